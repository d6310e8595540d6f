import type { Reason } from '../contracts/index.ts';
import type { PolicyLayer } from '../policy/index.ts';
import type { ApprovalSettings } from './approval-settings.ts';
import type { AuditWords } from './audit-settings.ts';
import { type BridleFile, readBridleFile } from './bridle-json.ts';
import { readConfigFile } from './config-file.ts';
import type { PinMode } from './pin-settings.ts';
import { hostReason } from './reason.ts';
import { type PlacesOptions, rulePlaces } from './server-places.ts';

const SCOPES = ['managed', 'user', 'local'] as const;
/** Of previews and of what becomes of questions, from the weakest on. */
const ORDER = ['user', 'local', 'managed'] as const;

/** The rules that lie outside of the project: an administrator's, the user's, and the user's for this project. */
export interface OwnRules {
  readonly layers: readonly PolicyLayer[];
  readonly previews: BridleFile['previews'];
  /** What each server may use of the model, by key. */
  readonly sampling: BridleFile['sampling'];
  /** Programs in whose settings more rules stand. */
  readonly from: BridleFile['from'];
  /** By layer, the strongest first. */
  readonly views: readonly BridleFile['views'][];
  readonly hooks: Readonly<Partial<Record<(typeof SCOPES)[number], BridleFile['hooks']>>>;
  readonly approvals: ApprovalSettings;
  readonly serverLog?: NonNullable<BridleFile['serverLog']>;
  /** The mode in force. */
  readonly mode?: string;
  /** What counts of all files. */
  readonly pins?: PinMode;
  readonly audit: readonly AuditWords[];
  readonly managedAudit: AuditWords | undefined;
  readonly warnings: readonly Reason[];
}

/**
 * Reads them. A mode in the managed file is the mode; else the one that was asked for counts, then the local file's, then
 * the user's.
 *
 * @param root the project's folder: absolute, without symbolic links
 * @param askedMode the person's choice for this run
 * @throws BridleError `config_…`
 */
export async function readOwnRules(
  root: string,
  options: PlacesOptions,
  askedMode: string | undefined,
): Promise<OwnRules> {
  const places = rulePlaces(root, options);
  const read = new Map<(typeof SCOPES)[number], BridleFile>();
  const layers: PolicyLayer[] = [];
  for (const scope of SCOPES) {
    const file = await readConfigFile(places[scope]);
    if (!file) continue;
    const rules = readBridleFile(file, 'user');
    read.set(scope, rules);
    layers.push(layerOf(scope, file.path, rules, true));
  }
  const managed = read.get('managed')?.mode;
  const pins = read.get('managed')?.pins ?? read.get('local')?.pins ?? read.get('user')?.pins;
  const mode = managed ?? askedMode ?? read.get('local')?.mode ?? read.get('user')?.mode;
  const [serverLog] = [...ORDER].reverse().flatMap((scope) => read.get(scope)?.serverLog ?? []);
  const warnings = [...read.values()].flatMap((rules) => rules.warnings);
  if (managed !== undefined && askedMode !== undefined && askedMode !== managed) {
    const text = `The mode "${askedMode}" doesn't count: an administrator set "${managed}" for this machine.`;
    warnings.push(hostReason('mode_managed', text, { file: places.managed }));
  }
  warnings.push(...overruled(read, places));
  return {
    layers,
    from: [...new Set([...read.values()].flatMap(({ from }) => from))],
    // The last that maps a tool counts.
    previews: ORDER.flatMap((scope) => read.get(scope)?.previews ?? []),
    views: SCOPES.map((scope) => read.get(scope)?.views ?? []),
    hooks: Object.fromEntries([...read].map(([scope, { hooks }]) => [scope, hooks])),
    sampling: new Map(ORDER.flatMap((scope) => [...(read.get(scope)?.sampling ?? [])])),
    approvals: Object.assign({}, ...ORDER.map((scope) => read.get(scope)?.approvals)),
    ...(mode !== undefined && { mode }),
    ...(serverLog !== undefined && { serverLog }),
    ...(pins !== undefined && { pins }),
    audit: [...read.values()].flatMap(({ audit }) => audit ?? []),
    managedAudit: read.get('managed')?.audit,
    warnings,
  };
}

/** What the person's own files say otherwise than an administrator's, whose word alone counts there. */
function overruled(
  read: ReadonlyMap<(typeof SCOPES)[number], BridleFile>,
  places: Readonly<Record<(typeof SCOPES)[number], string>>,
): readonly Reason[] {
  const managed = read.get('managed');
  if (!managed) return [];
  const first = settingsOf(managed);
  return (['local', 'user'] as const).flatMap((scope) => {
    const own = read.get(scope);
    return [...(own ? settingsOf(own) : [])].flatMap(([name, value]) => {
      if (!first.has(name) || first.get(name) === value) return [];
      const text = `${name} in ${places[scope]} doesn't count: an administrator set it otherwise for this machine.`;
      return [hostReason('setting_managed', text, { file: places.managed })];
    });
  });
}

/** What one file alone decides, in a form that can be compared. */
function settingsOf({ mode, pins, serverLog, approvals, sampling, previews }: BridleFile): ReadonlyMap<string, string> {
  const entries = [
    ...Object.entries({ mode, pins, serverLog }).map(([name, value]) => [`"${name}"`, value] as const),
    ...Object.entries(approvals).map(([name, value]) => [`"${name}" of "approvals"`, value] as const),
    ...[...sampling].map(([server, budget]) => [`"sampling" for "${server}"`, budget] as const),
    ...previews.map(({ rule, hash }) => [`the preview of "${rule}"`, hash] as const),
  ];
  return new Map(
    entries.filter(([, value]) => value !== undefined).map(([name, value]) => [name, JSON.stringify(value)]),
  );
}

type Rules = Pick<BridleFile, 'permissions' | 'lineOf'>;

export function layerOf(scope: PolicyLayer['scope'], file: string, read: Rules, trusted: boolean): PolicyLayer {
  return { scope, file, permissions: read.permissions, lineOf: read.lineOf, trusted };
}
