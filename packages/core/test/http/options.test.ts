import { expect, it } from 'vitest';
import { Gate } from '../../src/http/gate.js';
import { type Policy, type PolicyOptions, parsePolicy } from '../../src/policy/policy.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import { readerOf } from './gates.js';

/** A value of every option of a policy, none of them the default. */
const VALUES: Required<PolicyOptions> = {
  limit: 70,
  window: '60s',
  burst: 30,
  algorithm: 'token-bucket',
  overdraft: 2,
  shadow: true,
  lease: { ttl: '100ms', maxShare: 0.25 },
  shards: 2,
  fallback: 'open',
  keyClass: 'gold',
};

/** The policy that the store is asked under, where it is given in place. */
async function policyOf(options: PolicyOptions): Promise<Policy | undefined> {
  let seen: Policy | undefined;
  const memory = memoryStore();
  const store = Object.assign(Object.create(memory), {
    tryConsume(policy: Policy, key: string, cost: number) {
      seen = policy;
      return memory.tryConsume(policy, key, cost);
    },
  });
  const gate = new Gate<object>(
    { ...options, store, key: () => 'ann' },
    readerOf(() => undefined),
  );
  gate.judge({});
  await gate.close();
  return seen;
}

it('each option of a policy is one of the adapters, and comes to the store as it is', async () => {
  // The limiter has it here, which has no other policy.
  const { fallback: _, ...ofPolicy } = VALUES;
  expect(await policyOf(VALUES)).toEqual(parsePolicy('default', ofPolicy, ''));
});

it.each(Object.keys(VALUES))('%s is refused by its name where it cannot be used', async (name) => {
  await expect(policyOf({ ...VALUES, [name]: -1 })).rejects.toMatchObject({ field: name });
});

it('a limit that is a function of the request goes with all the others', async () => {
  const { limit, fallback: _, ...others } = VALUES;
  const seen = await policyOf({ ...VALUES, limit: (() => limit) as never });
  expect(seen).toEqual(parsePolicy('default', { ...others, limit }, ''));
});
