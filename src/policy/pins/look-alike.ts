import type { Pinnable } from './pin-record.ts';

/**
 * Letters of other scripts that are drawn as a Latin one: those that a name can be faked with in common fonts, after
 * Unicode TS #39's table of confusables.
 */
const CONFUSABLE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: 'аɑα',
    b: 'ЬƄ',
    c: 'сϲ',
    d: 'ԁ',
    e: 'еҽ',
    g: 'ɡց',
    h: 'һ',
    i: 'іıɩι',
    j: 'јϳ',
    k: 'κк',
    l: 'ӏا',
    m: 'м',
    n: 'ո',
    o: 'оοօσ',
    p: 'рρ',
    q: 'ԛ',
    r: 'г',
    s: 'ѕ',
    t: 'т',
    u: 'υս',
    v: 'νѵ',
    w: 'ѡԝ',
    x: 'хχ',
    y: 'уγү',
    z: 'ᴢ',
  }).flatMap(([latin, others]) => [...others].map((other): [string, string] => [other, latin])),
);

/** What a name looks like: names that a person takes for each other have the same. */
function looksLike(name: string): string {
  const folded = name
    .normalize('NFKD')
    .replace(/\p{M}|\p{Cf}|\p{Cc}/gu, '')
    .toLowerCase();
  const latin = [...folded].map((letter) => CONFUSABLE.get(letter) ?? letter).join('');
  return latin
    .replace(/[\s_.:/-]+/g, '_')
    .replaceAll('0', 'o')
    .replace(/[1|i]/g, 'l')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}

/** As far as names are compared. */
type Named = Pick<Pinnable, 'server' | 'tool' | 'name'>;

/**
 * The earlier tool that a new one could be taken for. Of the same server every name that looks the same counts. Of
 * another server the same name is common and fine; one that is the same only to the eye is not, and neither is a name
 * that is another tool's whole name, whichever of the two was there first.
 */
export function lookAlike<T extends Named>(one: Named, earlier: Iterable<T>): T | undefined {
  if (one.tool === null) return undefined;
  const look = looksLike(one.tool);
  const whole = looksLike(one.name);
  for (const other of earlier) {
    if (other.tool === null) continue;
    const otherLook = looksLike(other.tool);
    if (isSameServer(one, other)) {
      if (other.tool !== one.tool && otherLook === look) return other;
    } else if (look === looksLike(other.name) || whole === otherLook) {
      return other;
    } else if (look === otherLook && other.tool !== one.tool && !(isPlain(one.tool) && isPlain(other.tool))) {
      return other;
    }
  }
  return undefined;
}

function isSameServer({ server: one }: Named, { server: other }: Named): boolean {
  return one?.key === other?.key && one?.fingerprint === other?.fingerprint;
}

/** Every letter is what it seems to be: another spelling, such as `read-file`, is an author's own choice. */
function isPlain(name: string): boolean {
  return /^[\x20-\x7e]*$/.test(name);
}
