import type { IncomingHttpHeaders } from 'node:http';
import type { Json, JsonObject, ToolDefinition } from '../../contracts/index.ts';
import { type ParamHeader, paramHeaders } from '../../tools/index.ts';
import { CODES } from '../wire/index.ts';
import { isObject } from './is-object.ts';
import { versionIn } from './modern.ts';
import { RpcError } from './rpc.ts';

/** Which member of the parameters `Mcp-Name` repeats, by method. */
const NAMED = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

function mismatch(text: string): RpcError {
  return new RpcError(CODES.headerMismatch, `Header mismatch: ${text}`);
}

/**
 * The headers that repeat what the body says (MCP 2026-07-28, Streamable HTTP, "Server Validation"), so that whatever
 * stands between reads the same as we do.
 *
 * @throws RpcError -32020
 */
export function checkHeaders(headers: IncomingHttpHeaders, method: string, params: JsonObject): void {
  const version = headers['mcp-protocol-version'];
  const said = versionIn(params);
  if (version === undefined) throw mismatch('MCP-Protocol-Version is missing');
  if (said !== undefined && version !== said)
    throw mismatch(`MCP-Protocol-Version is ${shown(version)}, the body says ${shown(said)}`);
  const named = headers['mcp-method'];
  if (named === undefined) throw mismatch('Mcp-Method is missing');
  if (named !== method) throw mismatch(`Mcp-Method is ${shown(named)}, the body says ${shown(method)}`);
  const member = NAMED.get(method);
  if (member === undefined) return;
  const value = params[member];
  // What isn't a string is refused as a parameter.
  if (typeof value !== 'string') return;
  const name = headers['mcp-name'];
  if (typeof name !== 'string') throw mismatch('Mcp-Name is missing');
  const decoded = decode('Mcp-Name', name);
  if (decoded !== value) throw mismatch(`Mcp-Name is ${shown(decoded)}, the body says ${shown(value)}`);
}

const OF_TOOL = new WeakMap<ToolDefinition, readonly ParamHeader[]>();

/**
 * The headers in which a tool wants some of its arguments repeated (same page, "Custom Headers from Tool Parameters").
 *
 * @param tool absent: there is none of that name for the caller
 * @throws RpcError -32020
 */
export function checkParamHeaders(headers: IncomingHttpHeaders, tool: ToolDefinition | undefined, args: Json): void {
  if (!tool) return;
  let wanted = OF_TOOL.get(tool);
  if (!wanted) {
    const read = paramHeaders(tool.inputSchema);
    wanted = 'invalid' in read ? [] : read;
    OF_TOOL.set(tool, wanted);
  }
  for (const { header, path } of wanted) {
    const value = valueAt(args, path);
    const given = headers[header];
    if (value === undefined || value === null) {
      if (given !== undefined) throw mismatch(`${header} is given, and its parameter is not`);
      continue;
    }
    if (typeof given !== 'string') throw mismatch(`${header} is missing`);
    const decoded = decode(header, given);
    const isSame = typeof value === 'number' ? isNumber(decoded, value) : decoded === String(value);
    if (!isSame) throw mismatch(`${header} does not match its parameter`);
  }
}

function valueAt(args: Json, path: readonly string[]): Json | undefined {
  let value: Json | undefined = args;
  for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}

/** Numbers are compared as such: `42.0` is 42. */
function isNumber(text: string, value: number): boolean {
  return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) && Number(text) === value;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** @throws RpcError for what no client may write */
function decode(header: string, value: string): string {
  if (!/^[\x20-\x7e\t]*$/.test(value)) throw mismatch(`${header} has characters that a header can't carry`);
  if (!value.startsWith('=?base64?') || !value.endsWith('?=') || value.length < 11) return value;
  const encoded = value.slice('=?base64?'.length, -'?='.length);
  if (!BASE64.test(encoded)) throw mismatch(`${header} is not Base64`);
  const bytes = Buffer.from(encoded, 'base64');
  const text = bytes.toString('utf8');
  if (!Buffer.from(text, 'utf8').equals(bytes)) throw mismatch(`${header} is not UTF-8`);
  return text;
}

function shown(value: Json): string {
  return JSON.stringify(value).slice(0, 200);
}
