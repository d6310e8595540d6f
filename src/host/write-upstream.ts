import type { JsonObject } from '../contracts/index.ts';
import { parseView, type View } from '../policy/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import { type ConfigFile, readConfigFile } from './config-file.ts';
import { jsonOf } from './config-tree.ts';
import { editConfig } from './edit-config.ts';
import { type PlacesOptions, rulePlaces } from './server-places.ts';

/**
 * Writes into the files in which views stand which definition of its tool each was reviewed for; the rest of a file stays
 * as it is, comments too. Nothing is written before every view was found as it was read, and a file is written once with
 * all of its views or not at all.
 *
 * @param reviewed each view as it was read of its file, and the fingerprint of its tool's definition: SHA-256 (hex)
 * @param root the project's folder, which a project's file may not lead out of
 * @param places where an administrator's file is, unless it is in the machine's place
 * @returns the file of each view, and whether it had to be changed
 * @throws BridleError `config_not_written`, also when a view isn't there any more as it was read
 */
export async function writeUpstreams(
  reviewed: readonly { readonly view: View; readonly fingerprint: string }[],
  root: string,
  places: Pick<PlacesOptions, 'managedFile'> = {},
): Promise<ReadonlyMap<View, { readonly file: string; readonly changed: boolean }>> {
  const byFile = new Map<string, { readonly view: View; readonly fingerprint: string }[]>();
  for (const one of reviewed) {
    const file = one.view.source?.file;
    if (file === undefined) {
      throw new BridleError('config_not_written', `The view "${printable(one.view.name)}" stands in no file.`);
    }
    byFile.set(file, [...(byFile.get(file) ?? []), one]);
  }
  const edits = (file: string, read: ConfigFile | undefined) =>
    (byFile.get(file) ?? []).flatMap(({ view, fingerprint }) => {
      const key = keyOf(view, read);
      if (key === undefined) {
        throw new BridleError('config_not_written', `The view "${printable(view.name)}" is not as it was in ${file}.`, {
          hint: 'Somebody changed the file meanwhile; it is as it was. Look at the view once more.',
        });
      }
      return view.upstream === fingerprint ? [] : [{ path: ['views', key, 'upstream'], value: fingerprint }];
    });
  for (const file of byFile.keys()) edits(file, await readConfigFile(file));
  const written = new Map<View, { readonly file: string; readonly changed: boolean }>();
  for (const [file, ofFile] of byFile) {
    const isOfProject = ofFile.some(({ view }) => view.fromProject === true);
    const isManaged = file === rulePlaces(root, { env: {}, ...places }).managed;
    const options = isOfProject
      ? { access: 'shared' as const, within: root }
      : { access: isManaged ? ('managed' as const) : ('private' as const) };
    await editConfig(file, options, (read) => edits(file, read));
    for (const { view, fingerprint } of ofFile) written.set(view, { file, changed: view.upstream !== fingerprint });
  }
  return written;
}

/** The key under which exactly this view stands. */
function keyOf(view: View, read: ConfigFile | undefined): string | undefined {
  for (const { children: pair } of read?.root.children ?? []) {
    const [name, views] = pair ?? [];
    if (name?.value !== 'views' || views?.type !== 'object') continue;
    for (const { children } of views.children ?? []) {
      const [key, value] = children ?? [];
      if (!key || value?.type !== 'object') continue;
      if (parseView(String(key.value), jsonOf(value) as JsonObject).hash === view.hash) return String(key.value);
    }
  }
  return undefined;
}
