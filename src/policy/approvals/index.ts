/**
 * Rule of this folder: an approval is good for exactly what was approved, once. Every change of a record is a
 * compare-and-set; what can't be read or written approves nothing.
 */

export type { ApprovalAskerOptions } from './approval-asker.ts';
export { type AlwaysOptions, type Approvals, type ApproveOptions, approvals } from './approvals.ts';
export type { Approver } from './decide-approval.ts';
export type { AlwaysRecord, ApprovalDecision, ApprovalRecord, ApprovalState, Binding } from './record.ts';
export type { ApprovalsOptions } from './settings.ts';
