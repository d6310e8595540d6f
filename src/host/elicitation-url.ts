/** An address that a server asks a person to visit. */
export interface VisitUrl {
  /** Whole, as it would be opened: what looked like something else stands as its escapes. */
  readonly url: string;
  readonly host: string;
  /** What a person should look at twice. */
  readonly warnings: readonly string[];
}

const LONGEST = 8_000;

/** Reads the address of a URL elicitation: only http and https are shown at all. */
export function readVisitUrl(given: unknown): VisitUrl | { readonly problem: string } {
  if (typeof given !== 'string' || given.length > LONGEST || !URL.canParse(given)) {
    return { problem: 'what it gave is no URL' };
  }
  const url = new URL(given);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return { problem: `it is a ${url.protocol.slice(0, -1)} address, and only http and https are shown` };
  }
  const warnings: string[] = [];
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    warnings.push('The connection would not be encrypted (http).');
  if (url.username !== '' || url.password !== '') {
    warnings.push(`What stands before the @ is no address: it leads to ${url.host}.`);
  }
  if (/(^|\.)xn--/.test(url.hostname)) warnings.push(`${url.hostname} has letters that may look like others.`);
  return { url: url.href, host: url.host, warnings };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\./.test(host);
}
