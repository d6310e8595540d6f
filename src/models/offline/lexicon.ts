import { stem } from '../../search/index.ts';

/**
 * Everyday English verbs that stand for one another, with what a tool named by them does to the world. `pure` answers
 * from its arguments alone. Data, not rules: no word here belongs to one trade or one tool.
 */
const VERB_GROUPS: readonly (readonly [effect: 'read' | 'pure' | 'write', verbs: string])[] = [
  [
    'read',
    'get show view see read fetch retrieve display lookup look check give tell describe open print return inspect',
  ],
  ['read', 'status track state'],
  ['read', 'list enumerate browse'],
  ['read', 'search find query seek discover locate match filter'],
  ['pure', 'add sum plus total'],
  ['pure', 'subtract minus'],
  ['pure', 'multiply'],
  ['pure', 'divide'],
  ['pure', 'calculate compute evaluate count convert compare validate analyze measure'],
  ['write', 'create make add new insert write save store register generate build append record'],
  ['write', 'update edit change modify set mark replace patch toggle adjust assign'],
  ['write', 'move rename transfer'],
  ['write', 'copy duplicate clone'],
  ['write', 'delete remove erase drop clear purge destroy'],
  ['write', 'send post email notify publish submit forward reply'],
  ['write', 'cancel stop abort close end terminate kill'],
  ['write', 'start run execute trigger launch begin'],
  ['write', 'book reserve schedule arrange order buy purchase pay charge'],
  ['write', 'upload push put import'],
  ['write', 'approve accept confirm reject decline grant revoke'],
];

const groups = new Map<string, number[]>();
VERB_GROUPS.forEach(([, verbs], at) => {
  for (const verb of verbs.split(' ')) groups.set(stem(verb), [...(groups.get(stem(verb)) ?? []), at]);
});

const set = (words: string): ReadonlySet<string> => new Set(words.split(' '));
const stems = (words: string): ReadonlySet<string> => new Set(words.split(' ').map(stem));

/** Nouns as verbs: in the middle of a sentence these words name things. */
const OFTEN_NOUNS = stems(
  'order state product book post record list store total match email end open new status query',
);

export const QUESTION_WORDS = set(
  'what where when who whom whose which why how is are was were does do did has have can could may',
);
/** Verbs that people use to ask for something, and that tools use for a deed. */
export const TWO_SIDED = stems('give tell open check');
export const PRONOUNS = set('it its that this them they their those these same again he she him her one');
/** Words that ask for how an answer is shown rather than for a further deed. */
export const SHOWING_VERBS = stems(
  'quote tell show report say give print display summarize explain repeat state return cite mention',
);
/** Words that carry no content of their own in a request. */
export const FILLERS: ReadonlySet<string> = set(
  'a an the my your our his her me us i you we it its this that these those them they please kindly just now then next also ' +
    'still yet already and or but of to in on at for from with by as is are was were be been am do does did done has have had ' +
    'can could would should will shall may might must what where when who which why how much many some any all every each ' +
    'named called titled not no yes so if up out about into over there here let lets want need like hey hi hello ok okay ' +
    'again same one ones whether s t re ve ll d m thanks thank current currently right exactly whole entire say says',
);
/** Words that may stand for anything: they say little of what a request is about. */
export const VAGUE = stems(
  'information info detail details detailed data thing things result results stuff item items related',
);
export const POLITE =
  /^(?:(?:please|kindly|now|then|next|also|and|so|ok(?:ay)?|hi|hello|hey|finally|first|second|after that|afterwards)\b[\s,:!]*|(?:can|could|would|will) you\b\s*(?:please\b\s*)?|i(?:['’]d| would) like (?:you )?(?:to )?|i (?:want|need) (?:you )?(?:to )?|help me (?:to )?|let['’]?s |go ahead and |try to )/i;
export const NEGATION = /\b(?:don['’]?t|do not|never|without|instead of|not)\b/i;

/** Field words that say what kind of value is meant, not of which thing. */
export const GENERIC_FIELD_WORDS = stems(
  'id ids uuid guid key code number no num ref reference sku identifier name names path value',
);
export const DISCOURAGED = /\bdeprecated\b|\bobsolete\b|\bdo not use\b|\bno longer supported\b/i;

/** What the ending of a file's name says of its content. */
export const FILE_TYPES: ReadonlyMap<string, readonly string[]> = new Map(
  (
    [
      ['text', 'txt md markdown log csv tsv json yaml yml toml ini xml html css js ts py rs go java c h sh sql'],
      ['image', 'png jpg jpeg gif webp svg bmp'],
      ['audio', 'mp3 wav ogg flac m4a'],
      ['video', 'mp4 mov mkv webm avi'],
      ['pdf', 'pdf'],
    ] as const
  ).flatMap(([type, endings]) => endings.split(' ').map((ending): [string, string[]] => [ending, [type]])),
);

export function isVerb(word: string): boolean {
  return groups.has(stem(word));
}

/** True for a known verb that is seldom a noun. */
export function isPlainVerb(word: string): boolean {
  return isVerb(word) && !OFTEN_NOUNS.has(stem(word));
}

/** The verb's effects in the groups it belongs to; empty for a word that isn't in the lexicon. */
export function verbEffects(word: string): readonly ('read' | 'pure' | 'write')[] {
  return (groups.get(stem(word)) ?? []).flatMap((at) => VERB_GROUPS[at]?.[0] ?? []);
}

/** How far two words can stand for one another: 1 the same, 0.8 the same group, 0.5 both only read, else 0. */
export function verbLikeness(a: string, b: string): number {
  if (stem(a) === stem(b)) return 1;
  const groupsA = groups.get(stem(a)) ?? [];
  const groupsB = groups.get(stem(b)) ?? [];
  if (groupsA.some((group) => groupsB.includes(group))) return 0.8;
  const onlyReads = (list: readonly number[]) => list.length > 0 && list.every((at) => VERB_GROUPS[at]?.[0] === 'read');
  return onlyReads(groupsA) && onlyReads(groupsB) ? 0.5 : 0;
}
