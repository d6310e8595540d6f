/** Words that say that a value is a secret, wherever they stand in its name. */
const SECRETS = wordSet(
  'secret secrets password passwords passwd passphrase passphrases passcode passcodes passkey',
  'credential credentials creds bearer cookie cookies authorization authentication apikey apikeys jwt pwd mnemonic',
);
/** Words that say it only where nothing but their form comes behind them: `PIN_MODE` and `pass_rate` are none. */
const AT_END = wordSet('pass pin pincode pat auth oauth oauth2 otp totp cvv cvc');
/** What may stand behind those: the same secret in another form. */
const FORM = wordSet(
  'value code text string str raw plain plaintext enc encrypted encoded base64 b64 header current old new',
  'prod dev test staging backup default',
);
/** Last words of what is said about a secret, and is none: `TOKEN_LIMIT`, `PASSWORD_FILE`, `AUTH_URL`. */
const ABOUT = wordSet(
  'url uri endpoint host hostname server port domain path file dir folder sock socket type kind limit limits count',
  'budget usage length len size name policy required enabled disabled expiry expires ttl timeout interval',
  'provider method mode issuer helper min max version format rate through store',
);
/** Before `key` and `keys`, and before `tokens`, which mostly are counted. */
const KEYED = wordSet(
  'api access private secret auth signing encryption decryption ssh gpg pgp tls ssl master service account deploy',
  'recovery session shared hmac webhook subscription license bearer bot refresh id personal client app',
);
/** Before `token`: a place in a list or a stream. */
const PLACE = wordSet('page next continuation progress cancel cancellation sync');
/** A secret word written without a break behind others: `PGPASSWORD`, `authtoken`, `dbpass`. */
const RUN_TOGETHER =
  /(token|secret|password|passwd|passphrase|passcode|credentials?|cookie|apikey|accesskey|secretkey|privatekey|authkey|pwd)$/;
const PASS_OF = wordSet('db user smtp ssh root admin mysql pg ftp mail imap key store my');
/** The shell's own variables: folders. */
const FOLDERS = new Set(['PWD', 'OLDPWD']);

/**
 * Whether a value is a secret, by the name that it has: the one place where that is decided. A name is read by its words,
 * in `snake_case`, `kebab-case`, `camelCase` or any mixture.
 *
 * @param kind `setting` is a variable, a header, an option or a parameter of a URL, where what ends in `key` is a secret;
 *   `member` is a part of data, where a key mostly is one to look something up by
 */
export function namesSecret(name: string, kind: 'setting' | 'member'): boolean {
  if (FOLDERS.has(name)) return false;
  const words = wordsOf(name);
  if (ABOUT.has(words.at(-1) ?? '')) return false;
  let isForm = true;
  for (let at = words.length - 1; at >= 0; at -= 1) {
    const word = words[at] ?? '';
    if (isSecretWord(word, words[at - 1] ?? '')) return true;
    if (isForm && (AT_END.has(word) || isKey(word, words[at - 1], kind))) return true;
    isForm &&= FORM.has(word) || /^\d+$/.test(word);
  }
  return false;
}

function isSecretWord(word: string, before: string): boolean {
  if (word === 'token') return !PLACE.has(before);
  if (word === 'tokens') return KEYED.has(before);
  if (SECRETS.has(word)) return true;
  if (word.endsWith('token')) return !PLACE.has(word.slice(0, -'token'.length));
  return RUN_TOGETHER.test(word) || (word.endsWith('pass') && PASS_OF.has(word.slice(0, -'pass'.length)));
}

function isKey(word: string, before: string | undefined, kind: 'setting' | 'member'): boolean {
  if (word === 'keys') return before !== undefined && KEYED.has(before);
  if (word !== 'key') return false;
  return kind === 'setting' ? before !== 'public' : before !== undefined && KEYED.has(before);
}

/** In lower case, without what can't be seen; a number behind a word is taken off it. */
function wordsOf(name: string): readonly string[] {
  return name
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .split(/[^\p{L}\p{N}]+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())
    .map((word) => (FORM.has(word) || AT_END.has(word) ? word : word.replace(/(?<=\D)\d{1,6}$/, '')));
}

function wordSet(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.join(' ').split(' '));
}
