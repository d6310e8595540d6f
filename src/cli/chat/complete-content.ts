import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ContentCatalog } from '../../catalog/index.ts';
import { expandTemplate, templateVariables } from '../../content/index.ts';
import type { Identity } from '../../contracts/index.ts';
import { choosePrompt, givenArguments } from '../../host/index.ts';
import { printable } from '../../tools/index.ts';

export interface ContentCompletion {
  readonly catalog: ContentCatalog;
  readonly who: Identity;
  /** The project's folder. */
  readonly root: string;
}

/** Somebody waits with the hand on the keys, in milliseconds. */
const WAIT_MS = 2_000;
const MOST_SHOWN = 100;

/**
 * Completes `@server:…`, `@file`, `/prompt` and a prompt's arguments: the candidates and the part of the line that they
 * replace. Undefined when the line ends with none of these. Never rejects.
 */
export async function completeContent(line: string, where: ContentCompletion): Promise<[string[], string] | undefined> {
  try {
    const mention = /(?:^|[\s([{"'])@([^\s"]*)$/.exec(line)?.[1];
    const found =
      mention !== undefined
        ? await mentions(mention, where)
        : line.startsWith('/')
          ? await prompted(line, where)
          : null;
    if (found === null) return undefined;
    const [all, part] = found;
    // readline shows candidates as they are; a blank would end the mention.
    const plain = [...new Set(all)].filter((one) => one.startsWith(part) && printable(one) === one && !/\s/.test(one));
    return [plain.slice(0, MOST_SHOWN), part];
  } catch {
    return undefined;
  }
}

async function mentions(part: string, { catalog, who, root }: ContentCompletion): Promise<[string[], string]> {
  const { resources, templates } = catalog.list(who);
  const addresses = resources.map(({ server, uri }) => `${server?.key ?? ''}:${uri}`);
  const keys = [...resources, ...templates].map(({ server }) => `${server?.key ?? ''}:`);
  const filled = await Promise.all(
    templates.map(async (template) => {
      const { server, uriTemplate } = template;
      const [name, more] = templateVariables(uriTemplate);
      const source = catalog.templateSource(template, who);
      if (name === undefined || more !== undefined || !source) return [];
      const prefix = `${server?.key ?? ''}:${uriTemplate.slice(0, uriTemplate.indexOf('{'))}`;
      const isAddress = part.startsWith(prefix);
      if (!isAddress && !prefix.startsWith(part) && part.includes(':')) return [];
      const value = isAddress ? part.slice(prefix.length) : part.includes(':') ? '' : part;
      const ref = { type: 'resource', uriTemplate } as const;
      const { values } = await source.complete(ref, { name, value }, {}, AbortSignal.timeout(WAIT_MS), who);
      const uris = values.map((one) => `${server?.key ?? ''}:${expandTemplate(uriTemplate, { [name]: one })}`);
      return part.includes(':') ? uris : values;
    }),
  );
  const known = part.includes(':') ? addresses : [...keys, ...resources.map(({ name }) => name)];
  const all = [...known, ...filled.flat(), ...(await files(part, root))];
  return [all.map((one) => `@${one}`), `@${part}`];
}

async function files(part: string, root: string): Promise<string[]> {
  if (part.includes(':') || part.startsWith('/') || part.includes('..')) return [];
  const folder = part.endsWith('/') ? part : part.includes('/') ? `${dirname(part)}/` : '';
  const start = part.slice(folder.length);
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
  return entries
    .filter(({ name }) => name.startsWith('.') === start.startsWith('.') && name !== 'node_modules')
    .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .sort();
}

async function prompted(line: string, { catalog, who }: ContentCompletion): Promise<[string[], string] | null> {
  const { prompts } = catalog.list(who);
  if (/^\/\S*$/.test(line)) {
    const bare = prompts.map(({ name }) => `/${name}`);
    const once = bare.filter((name) => bare.indexOf(name) === bare.lastIndexOf(name));
    const keyed = prompts.map(({ server, name }) => `/${server?.key ?? ''}:${name}`);
    return [[...once, ...keyed], line];
  }
  const [, name = '', before = '', part = ''] = /^\/(\S+)[ \t]+(?:(.*)[ \t])?(\S*)$/.exec(line) ?? [];
  const found = choosePrompt(name, catalog, who);
  if (!found) return null;
  const names = found.prompt.arguments.map((argument) => argument.name);
  const { values: known, open } = givenArguments(found.prompt, before);
  const named = names.find((one) => part.startsWith(`${one}=`));
  const argument = named ?? open[0];
  if (argument === undefined) return null;
  const start = named === undefined ? '' : `${named}=`;
  const ref = { type: 'prompt', name: found.prompt.name } as const;
  const asked = { name: argument, value: part.slice(start.length) };
  const others = Object.fromEntries(Object.entries(known).filter(([one]) => one !== argument));
  const { values } = await found.source.complete(ref, asked, others, AbortSignal.timeout(WAIT_MS), who);
  // Where one is begun by its name, the names that are left are offered, too.
  const left = named === undefined && part !== '' ? open.map((one) => `${one}=`) : [];
  return [[...values.map((value) => `${start}${value}`), ...left], part];
}
