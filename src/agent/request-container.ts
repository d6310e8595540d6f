import type { RequestPart } from './request.ts';

/** `container`: code that the provider runs goes on where it ran before. */
export const containerPart: RequestPart = ({ container }, body) =>
  container === null ? body : { ...body, container: container.id };
