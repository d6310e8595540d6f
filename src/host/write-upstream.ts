import type { JsonObject } from '../contracts/index.ts';
import { parseView, type View } from '../policy/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import type { ConfigFile } from './config-file.ts';
import { jsonOf } from './config-tree.ts';
import { editConfig } from './edit-config.ts';
import { type PlacesOptions, rulePlaces } from './server-places.ts';

/**
 * Writes into the file in which a view stands which definition of its tool was reviewed; the rest of the file stays as it
 * is, comments too.
 *
 * @param view as it was read of that file
 * @param fingerprint of the tool's definition: SHA-256 (hex)
 * @param root the project's folder, which a project's file may not lead out of
 * @param places where an administrator's file is, unless it is in the machine's place
 * @returns the file, and whether it had to be changed
 * @throws BridleError `config_not_written`, also when the view isn't there any more as it was read
 */
export async function writeUpstream(
  view: View,
  fingerprint: string,
  root: string,
  places: Pick<PlacesOptions, 'managedFile'> = {},
): Promise<{ readonly file: string; readonly changed: boolean }> {
  const file = view.source?.file;
  if (file === undefined) {
    throw new BridleError('config_not_written', `The view "${printable(view.name)}" stands in no file.`);
  }
  const isManaged = file === rulePlaces(root, { env: {}, ...places }).managed;
  const options = view.fromProject
    ? { access: 'shared' as const, within: root }
    : { access: isManaged ? ('managed' as const) : ('private' as const) };
  const changed = await editConfig(file, options, (read) => {
    const key = keyOf(view, read);
    if (key === undefined) {
      throw new BridleError('config_not_written', `The view "${printable(view.name)}" is not as it was in ${file}.`, {
        hint: 'Somebody changed the file meanwhile; it is as it was. Look at the view once more.',
      });
    }
    return view.upstream === fingerprint ? [] : [{ path: ['views', key, 'upstream'], value: fingerprint }];
  });
  return { file, changed };
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
