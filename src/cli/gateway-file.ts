import { join, resolve } from 'node:path';
import { type GatewayAgent, type GatewayConfig, keyDigest, newAgentKey, readGatewayConfig } from '../gateway/index.ts';
import { readJsonFile } from '../host/index.ts';
import { configDir } from '../store/index.ts';
import { BridleError, isLoopback, printable } from '../tools/index.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { flag, portOption, stringOption } from './parse.ts';

/** What the command line and the gateway's file say together. */
export interface GatewaySettings extends GatewayConfig {
  /** Where there is no file: the key of the one agent, made for this run. */
  readonly key?: string;
}

/** The one agent of a gateway without a file. */
const ALONE = 'local';

/**
 * Reads the gateway's file: the one of `--config`, else `gateway.json` among the person's own settings. A project's folder
 * says nothing of who may call.
 *
 * @throws BridleError `config_…`; `gateway_no_agents` where nobody could be known who calls
 */
export async function gatewaySettings(parsed: ParsedCommand, io: CommandIo): Promise<GatewaySettings> {
  const named = stringOption(parsed, 'config');
  const file = gatewayFile(parsed, io);
  const value = await readJsonFile(file);
  if (value === undefined && named !== undefined) {
    throw new BridleError('config_missing', `There is no file ${file}.`, { hint: 'Check the path after --config.' });
  }
  const read = readGatewayConfig(value ?? {}, file);
  const host = stringOption(parsed, 'host') ?? read.host;
  const told = portOption(parsed, 'operations-port');
  const config = {
    ...read,
    host,
    port: portOption(parsed) ?? read.port,
    ...(told !== undefined && { operations: { host: '127.0.0.1', port: told } }),
  };
  const isKnown = flag(parsed, 'stdio') ? config.agents.size > 0 : [...config.agents.values()].some(hasKey);
  if (isKnown) return config;
  if (value === undefined && isLoopback(host.includes(':') ? `[${host}]` : host)) return alone(config);
  const what = value === undefined ? `There is no file ${file}` : `No agent in ${file} has a key`;
  throw new BridleError('gateway_no_agents', `${what}, so nobody could be known who calls.`, {
    hint: `Make a key with 'bridle gateway key NAME', and put its digest into the file.`,
  });
}

function hasKey({ keys }: GatewayAgent): boolean {
  return keys.length > 0;
}

function alone(config: GatewayConfig): GatewaySettings {
  const { key } = newAgentKey();
  const agent = {
    name: ALONE,
    keys: [keyDigest(key)],
    permissions: {},
    seesAll: true,
    content: 'all',
    limits: {},
  } as const;
  return { ...config, agents: new Map([[ALONE, agent]]), key };
}

export function gatewayFile(parsed: ParsedCommand, io: Pick<CommandIo, 'cwd' | 'env'>): string {
  const named = stringOption(parsed, 'config');
  return named === undefined ? join(configDir(io.env), 'gateway.json') : resolve(io.cwd, named);
}

/**
 * The agent that a client over stdio is.
 *
 * @throws BridleError `gateway_agent_unknown`
 */
export function stdioAgent(name: string | undefined, { agents, file }: GatewaySettings): string {
  const names = [...agents.keys()];
  const [only] = names;
  if (name === undefined && names.length === 1 && only !== undefined) return only;
  if (name !== undefined && agents.has(name)) return name;
  const what = name === undefined ? 'Several agents are in' : `There is no agent "${printable(name)}" in`;
  throw new BridleError('gateway_agent_unknown', `${what} ${file}.`, {
    hint: `Say which one the client is: --as ${names.map((each) => printable(each)).join(' or --as ')}.`,
  });
}
