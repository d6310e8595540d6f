import { storeError } from './store-error.ts';

export function storeClosed(): Error {
  return storeError('store_closed', 'The store is closed.', 'Open it again, or close it only when nothing needs it.');
}
