import type { Identity, Policy } from '../../contracts/index.ts';
import type { Prompter } from '../../host/index.ts';
import type { PersonInput } from '../person-input.ts';
import type { Style } from '../style.ts';
import type { Workspace } from '../workspace.ts';
import type { ChatSession } from './chat-session.ts';
import type { TurnView } from './turn-view.ts';

/** What the commands of a chat work with. */
export interface ChatContext {
  readonly session: ChatSession;
  readonly workspace: Pick<Workspace, 'servers' | 'project' | 'content' | 'lent' | 'pins'>;
  /** Reads what the person says. */
  readonly input: PersonInput;
  readonly policy: Policy;
  readonly who: Identity;
  readonly view: TurnView;
  readonly style: Style;
  readonly sessionsDir: string;
  /** The project's folder. */
  readonly project: string;
  /** The person; undefined in a pipe. */
  readonly prompter: Prompter | undefined;
  /** Shows whole lines, never on stdout. */
  say(text: string): void;
  /** The same, unbroken. */
  print(text: string): void;
  columns(): number;
}
