import { storeBehaviour } from '../../test/helpers/store-behaviour.ts';
import { memoryStore } from './index.ts';

storeBehaviour('memoryStore', async () => memoryStore());
