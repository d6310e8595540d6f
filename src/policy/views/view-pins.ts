import type { JsonObject, Reason, ToolDefinition } from '../../contracts/index.ts';
import { pinnableTool } from '../pins/pin-record.ts';
import { viewReason } from './apply-view.ts';
import type { View } from './view.ts';

/** Which definitions views were reviewed against. Nothing but `settled` rejects or throws. */
export interface ViewPins {
  /** The fingerprints that count: a tool has to have each of them. Empty: none yet. */
  accepted(view: View): readonly string[];
  /** Told, maybe more than once, that a view is used over this definition. The first one counts from then on. */
  met(view: View, of: ToolDefinition): void;
  /** Waits until what was met is kept. A call that it can't be kept for is refused. */
  settled?(): Promise<void>;
}

/** The first definition that a view meets counts for as long as this lives. */
export function pinsInMemory(): ViewPins {
  const met = new Map<View, string>();
  return {
    accepted: (view) => [met.get(view) ?? []].flat(),
    met: (view, of) => void met.set(view, reviewOf(of).fingerprint),
  };
}

/** What somebody who writes a view has read: the definition as its server gave it, and its fingerprint (SHA-256, hex). */
export function reviewOf(of: ToolDefinition): { readonly definition: JsonObject; readonly fingerprint: string } {
  const { definition, fingerprint } = pinnableTool(of);
  return { definition, fingerprint };
}

/**
 * The fingerprint that a view is held to, as far as there is one. In the person's own file, and in a program, `upstream`
 * is the person's word. In a project's it is the project's, which counts beside the person's and not in place of it.
 */
export function expectedOf(view: View, pins: ViewPins): readonly string[] {
  const own = view.upstream === undefined || view.fromProject === true ? pins.accepted(view) : [];
  return [view.upstream ?? [], own].flat();
}

/** Why a view is stopped: it was written for the words that its author read, and the tool behind it has others now. */
export function stopped(view: View, of: ToolDefinition, pins: ViewPins): Reason | undefined {
  if (view.problem !== undefined) return undefined;
  const { fingerprint } = reviewOf(of);
  if (expectedOf(view, pins).every((expected) => expected === fingerprint)) return undefined;
  const isNamed = view.upstream !== undefined && view.upstream !== fingerprint;
  const how = isNamed ? `, and then write the view's "upstream" as ${fingerprint}` : ', and then accept it';
  const text = `is stopped: the tool behind it has changed since the view was reviewed. Look at what it is now${how}.`;
  return viewReason(view, 'view_upstream_changed', text);
}

/** Holds a view's calls to what counts when they are made: somebody may have agreed to another definition meanwhile. */
export function heldAtCall(tool: ToolDefinition, view: View, pins: ViewPins): ToolDefinition {
  const { narrows } = tool;
  if (!narrows) return tool;
  const refused = (message: string) => ({ issues: [{ path: '', message }] });
  return {
    ...tool,
    narrows: {
      ...narrows,
      async arguments(args, who) {
        try {
          await pins.settled?.();
        } catch {
          return refused("can't be used now: what it was reviewed against can't be kept");
        }
        if (stopped(view, narrows.of, pins)) return refused("can't be used until a person has looked at it");
        return narrows.arguments(args, who);
      },
    },
  };
}
