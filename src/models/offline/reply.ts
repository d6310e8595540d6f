import { splitWords } from '../../search/index.ts';
import { NEGATION } from './lexicon.ts';
import type { Field, ToolCard } from './tool-card.ts';

const NO_MODEL = 'I am Bridle’s offline planner, not a language model: I match requests to the tools that I am given.';
const MAX_LISTED = 12;
const MAX_SHOWN = 120;

/** The question for a value that nobody has given. */
export function askFor(field: Field, options: readonly string[]): string {
  const spoken = field.path
    .filter((step) => step !== 0)
    .slice(-1)
    .join(' ');
  const own = splitWords(spoken).join(' ');
  const kind = field.sort;
  const label =
    kind === 'id' && field.words.length === 1 && field.entity.length > 0 ? `${field.entity.join(' ')} ${own}` : own;
  const example = field.example;
  const eg = example === undefined ? '' : ` (e.g. ${example})`;
  if (kind === 'id') {
    const thing = label.replace(/ (?:ids?|uuid|guid|key|code|number|no|ref|reference|sku)$/, '');
    const offer = options.length > 1 ? `I found ${options.slice(0, 12).join(', ')}. ` : '';
    return `${offer}Please tell me the ${label}${offer ? '' : eg}: which ${thing} do you mean?`;
  }
  const members = Array.isArray(field.schema.enum) ? ` (one of ${field.schema.enum.slice(0, 12).join(', ')})` : eg;
  const about = field.description.split(/(?<=[.!?])\s/, 1)[0]?.replace(/[.!?]+$/, '') ?? '';
  const hint = about !== '' && about.length <= 100 && members === '' ? ` (${about})` : members;
  return `I need the ${label}${hint} for this: what should it be?`;
}

/** Says plainly that no tool does what was asked, and what there is; or that it was asked to leave something alone. */
export function nothingDone(text: string, cards: readonly ToolCard[]): string {
  if (NEGATION.test(text) && !text.includes('?')) return 'I take this as something not to do, and did nothing.';
  return `None of my tools fits this request. ${NO_MODEL}\n${listed(cards)}`;
}

export function tooManyCalls(limit: number): string {
  return `I stopped here: this request took ${limit} calls and was not done.`;
}

export function aboutItself(cards: readonly ToolCard[]): string {
  return `${NO_MODEL}\n${listed(cards)}`;
}

/** Answers to what is said to the planner itself rather than asked of a tool. */
export function smallTalk(text: string, cards: readonly ToolCard[]): string | undefined {
  const said = text.trim();
  const self =
    /\b(?:are you|you are|you['’]re)\b.*\b(?:ai|a\.i\.|llm|model|human|person|robot|bot|machine|real|claude|gpt|chatgpt)\b/i;
  if (self.test(said) || /\bwho are you\b|\bwhat are you\b|\b(?:which|what) model\b.*\byou\b/i.test(said))
    return aboutItself(cards);
  if (/^(?:help|\?+)[.!?]*$/i.test(said) || /\bwhat (?:can|could|do) you (?:do|help)\b|\bwhat tools\b/i.test(said))
    return aboutItself(cards);
  if (/^(?:hi|hello|hey|good (?:morning|afternoon|evening))\b[\s\w,]{0,20}[.!]*$/i.test(said))
    return `Hello. ${aboutItself(cards)}`;
  if (/^(?:thanks|thank you|thx|cheers)\b[^?]{0,40}$/i.test(said)) return 'You’re welcome.';
  if (/^(?:no|never ?mind|stop|cancel|forget it)\b[\w\s,]{0,20}[.!]*$/i.test(said))
    return 'All right, I leave it at that.';
  return undefined;
}

/** Between words, and it shows that something was left out. */
function cut(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN).replace(/[\s,;:]+\S*$/, '')} …`;
}

function listed(cards: readonly ToolCard[]): string {
  if (cards.length === 0) return 'At the moment I have no tools.';
  const rows = cards.slice(0, MAX_LISTED).map(({ name, description }) => {
    const first = cut((description.split(/(?<=[.!?])\s|\n/, 1)[0] ?? '').trim());
    return first === '' ? `- ${name}` : `- ${name}: ${first}`;
  });
  if (cards.length > MAX_LISTED) rows.push(`- and ${cards.length - MAX_LISTED} more`);
  return `What I can do:\n${rows.join('\n')}`;
}
