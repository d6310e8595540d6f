/** Whether a client takes a stream of events; one that doesn't say what it takes, takes all (RFC 9110, 12.5.1). */
export function takesEvents(accept: string | undefined): boolean {
  return accept === undefined || /text\/event-stream|text\/\*|\*\/\*/i.test(accept);
}
