/** One thing that expansion noticed. */
interface ExpansionNote {
  readonly code: 'variable_unset' | 'variable_form' | 'model_key';
  readonly text: string;
}

export interface Expanded {
  readonly text: string;
  readonly notes: readonly ExpansionNote[];
  /** Names of the parent's variables that the text takes in, whether they are set or not. */
  readonly uses: readonly string[];
}

/** Variables of the parent's environment that hold a model's key: they go to a server only through its own `env`. */
export const MODEL_KEYS: ReadonlySet<string> = new Set(['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'OPENAI_API_KEY']);

const REFERENCE = /\$\{([^}]*)\}/g;
const NAME_AND_DEFAULT = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;

/**
 * Expands `${VAR}` and `${VAR:-default}` in one pass: what came from an expansion is never expanded again. A variable
 * that isn't set and has no default keeps its text. Never throws.
 *
 * @param text as it stands in the file
 * @param variables the parent's environment with `CLAUDE_PROJECT_DIR`; own properties count
 * @param options `modelKeys`: also expand the variables that hold a model's key, with a note
 */
export function expand(
  text: string,
  variables: ReadonlyMap<string, string>,
  options: { readonly modelKeys?: boolean } = {},
): Expanded {
  const notes: ExpansionNote[] = [];
  const uses: string[] = [];
  const note = (code: ExpansionNote['code'], words: string) => void notes.push({ code, text: words });
  // Without the part in which nothing closes any more, each reference is looked through once.
  const end = text.lastIndexOf('}') + 1;
  const out = text.slice(0, end).replace(REFERENCE, (reference: string, inside: string) => {
    const [, name, fallback] = NAME_AND_DEFAULT.exec(inside) ?? [];
    if (name === undefined || (fallback !== undefined && /\$\{/.test(fallback))) {
      note('variable_form', `${reference} is kept as it is: ${formAdvice(inside)}`);
      return reference;
    }
    uses.push(name);
    if (MODEL_KEYS.has(name)) {
      if (options.modelKeys !== true) {
        note('model_key', `${reference} is kept as it is: a model's key is only passed on through an entry's env.`);
        return reference;
      }
      note('model_key', `This server gets your ${name}.`);
    }
    const value = variables.get(name) ?? fallback;
    if (value !== undefined) return value;
    const advice =
      name === 'workspaceFolder' ? `Write \${CLAUDE_PROJECT_DIR}.` : `Set it, or write \${${name}:-default}.`;
    note('variable_unset', `The variable ${name} is not set, so ${reference} is kept as it is. ${advice}`);
    return reference;
  });
  return { text: out + text.slice(end), notes, uses };
}

function formAdvice(inside: string): string {
  if (inside.startsWith('env:')) return `write \${${inside.slice(4)}}.`;
  if (inside.startsWith('input:')) return 'inputs are not asked for; put the value into an environment variable.';
  if (/\$\{/.test(inside)) return 'one variable inside another is not expanded.';
  return `only \${VAR} and \${VAR:-default} are expanded.`;
}

/** The variables that configuration may take in: the given environment, and the project's folder. */
export function variablesOf(
  env: Readonly<Record<string, string | undefined>>,
  projectRoot: string,
): ReadonlyMap<string, string> {
  const variables = new Map<string, string>();
  for (const [name, value] of Object.entries(env)) if (value !== undefined) variables.set(name, value);
  return variables.set('CLAUDE_PROJECT_DIR', projectRoot);
}
