/** What a program needs to find itself, its user and its language; nothing that names or holds a credential. */
const BASELINE = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TERM',
  'TMPDIR',
  'TZ',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_STATE_HOME',
  'XDG_CACHE_HOME',
  // macOS: without it, text tools misread the user's encoding.
  '__CF_USER_TEXT_ENCODING',
]);

/**
 * The environment of a child: a small baseline of ours plus what its entry names. Everything else, the model's key
 * first of all, stays here.
 *
 * @param own this process's environment
 * @param entry the `env` of the server's entry; it wins
 */
export function childEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  entry: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const env = new Map<string, string>();
  for (const [name, value] of Object.entries(own)) {
    if (value === undefined || !(BASELINE.has(name) || name.startsWith('LC_'))) continue;
    // A shell function exported into the environment is code, not a setting.
    if (!value.startsWith('()')) env.set(name, value);
  }
  for (const [name, value] of Object.entries(entry)) env.set(name, value);
  return Object.fromEntries(env);
}
