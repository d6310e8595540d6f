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
export function looksLike(name: string): string {
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
