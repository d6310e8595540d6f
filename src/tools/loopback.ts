/** Whether a URL's host is this machine itself. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost\.?|.*\.localhost\.?|127(\.\d+){3}|\[::1\])$/i.test(hostname);
}
