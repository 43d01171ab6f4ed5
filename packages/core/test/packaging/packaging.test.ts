import { rm } from 'node:fs/promises';
import { afterAll, beforeAll } from 'vitest';
import { describeBundles } from './bundles.js';
import { type Packed, packAll } from './consumer.js';
import { describeRuntime } from './runtime.js';
import { describeTypes } from './types.js';

let packed: Packed;
beforeAll(async () => {
  packed = await packAll();
});
afterAll(() => rm(packed.root, { recursive: true }));

describeRuntime(() => packed);
describeBundles(() => packed);
describeTypes(() => packed);
