import type { Json } from '../contracts/index.ts';
import { familyOf } from './model-facts.ts';

/**
 * What a Claude model takes and what it refuses, by its name: one truth for the loop, which keeps to it, and for the
 * checker of requests, which refuses what the API refuses. From Anthropic's migration guides and model pages.
 */
export interface ModelTraits {
  /** `tool_choice` of `any` and `tool`. */
  readonly forcing: boolean;
  /** A request that ends with the assistant's words. */
  readonly prefill: boolean;
  /** `thinking: {type: 'enabled', budget_tokens}`. */
  readonly manualThinking: boolean;
  readonly adaptiveThinking: boolean;
  readonly thinkingOff: boolean;
  /** `thinking: {type: 'between_tools'}`. */
  readonly betweenTools: boolean;
  /** `temperature`, `top_p` and `top_k`. */
  readonly sampling: boolean;
  /** `output_config.effort`. */
  readonly effort: boolean;
  /** Messages with the role `system`. */
  readonly systemMessages: boolean;
  /** Tools called from code. */
  readonly programmatic: boolean;
  /** Thinking blocks are bound to the conversation before them. */
  readonly boundThinking: boolean;
  /** `computer_20251124` and older. */
  readonly oldComputer: boolean;
}

const NAME = /^claude-(opus|sonnet|haiku|fable|mythos)-(\d)(?:-(\d))?(?:$|[-@[])/;

/**
 * @param model e.g. `claude-opus-5-5`, also with a provider in front or a date behind
 * @returns `undefined` for a name that isn't a Claude model of the fourth generation or later
 */
export function modelTraits(model: Json | undefined): ModelTraits | undefined {
  const [, family, major, minor = '0'] = (typeof model === 'string' && NAME.exec(familyOf(model))) || [];
  if (family === undefined || major === undefined) return undefined;
  const version = Number(major) + Number(minor) / 10;
  const top = family === 'fable' || family === 'mythos';
  const haiku = family === 'haiku';
  return {
    // Opus 5.5, Sonnet 5.5, Fable 5 and Mythos 5 on; of Haiku nothing is known.
    forcing: !(top || (version >= 5.5 && !haiku)),
    prefill: version < 4.6,
    manualThinking: version < 4.7,
    adaptiveThinking: version >= 4.6,
    thinkingOff: !(top || (family === 'sonnet' && version >= 5.5)),
    betweenTools: family === 'sonnet' && version >= 5.5,
    sampling: version < 4.7,
    effort: !(haiku && version < 5),
    systemMessages: version >= 4.8 && !(family === 'sonnet' && version < 5.5),
    programmatic: !(haiku && version < 5),
    boundThinking: (top && version >= 5.1) || (family === 'opus' && version >= 5.5),
    oldComputer: !(family === 'opus' && version >= 5.5) && !(family === 'sonnet' && version >= 5.5),
  };
}
