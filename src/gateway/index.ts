/**
 * Rule of this folder: an agent is known by its key alone, and what it was given is asked the same way when it lists as
 * when it calls. What one agent, one server or one question does is never seen by, and never delays, another.
 */
export { type AgentKey, keyDigest, newAgentKey } from './agent-key.ts';
export { type AgentPolicies, agentPolicies } from './agent-policies.ts';
export { createGateway, type Gateway, type GatewayOptions, type GatewayServer } from './gateway.ts';
export { endOf, type GatewayMetrics, gatewayMetrics } from './metrics.ts';
export { type Operations, type OperationsOptions, serveOperations } from './operations.ts';
export type { GatewayStatus, ServerStatus } from './status.ts';
export { type CallLimits, type GatewayAgent, type GatewayConfig, readGatewayConfig } from './gateway-config.ts';
