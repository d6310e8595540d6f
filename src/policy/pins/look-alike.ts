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

/** A tool that was met, with what its names look like. */
interface Met {
  readonly named: Named;
  readonly look: string;
  readonly whole: string;
}

export interface LookAlikes {
  add(one: Named): void;
  remove(one: Named): void;
  /**
   * The earlier tool that a new one could be taken for. Of the same server every name that looks the same counts. Of
   * another server the same name is common and fine; one that is the same only to the eye is not, and neither is a name
   * that is another tool's whole name, whichever of the two was there first.
   */
  of(one: Named): Named | undefined;
}

/** Finds by what names look like: a server may list thousands, and comparing each with each would hold everything up. */
export function lookAlikes(): LookAlikes {
  const byLook = new Map<string, Met[]>();
  const byWhole = new Map<string, Met[]>();
  return {
    add(named) {
      const met = metOf(named);
      if (met === undefined) return;
      listed(byLook, met.look).push(met);
      listed(byWhole, met.whole).push(met);
    },
    remove(named) {
      const met = metOf(named);
      if (met === undefined) return;
      drop(byLook, met.look, named);
      drop(byWhole, met.whole, named);
    },
    of(named) {
      const met = metOf(named);
      if (met === undefined) return undefined;
      const { look, whole } = met;
      const candidates = [byLook.get(look), byLook.get(whole), byWhole.get(look)].flatMap((some) => some ?? []);
      return candidates.find((other) => canBeTakenFor(met, other))?.named;
    },
  };
}

function metOf(named: Named): Met | undefined {
  return named.tool === null ? undefined : { named, look: looksLike(named.tool), whole: looksLike(named.name) };
}

function listed(map: Map<string, Met[]>, key: string): Met[] {
  const there = map.get(key) ?? [];
  map.set(key, there);
  return there;
}

function drop(map: Map<string, Met[]>, key: string, gone: Named): void {
  const left = map.get(key)?.filter(({ named }) => named.tool !== gone.tool || !isSameServer(named, gone)) ?? [];
  if (left.length > 0) map.set(key, left);
  else map.delete(key);
}

function canBeTakenFor(one: Met, other: Met): boolean {
  const isOther = other.named.tool !== one.named.tool;
  if (isSameServer(one.named, other.named)) return isOther && one.look === other.look;
  if (one.look === other.whole || one.whole === other.look) return true;
  return one.look === other.look && isOther && !(isPlain(one.named.tool ?? '') && isPlain(other.named.tool ?? ''));
}

function isSameServer({ server: one }: Named, { server: other }: Named): boolean {
  return one?.key === other?.key && one?.fingerprint === other?.fingerprint;
}

/** Every letter is what it seems to be: another spelling, such as `read-file`, is an author's own choice. */
function isPlain(name: string): boolean {
  return /^[\x20-\x7e]*$/.test(name);
}
