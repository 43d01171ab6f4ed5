/** What somebody pays for; the key class of what they are charged. */
export type Tier = 'stranger' | 'free' | 'paid';

/** Somebody whom we gave an API key. */
export interface Customer {
  readonly name: string;
  readonly tier: Tier;
}

/** By API key. A real service asks its database. */
const CUSTOMERS = new Map<unknown, Customer>([
  ['key-of-ann', { name: 'ann', tier: 'free' }],
  ['key-of-bob', { name: 'bob', tier: 'paid' }],
  ['key-of-cleo', { name: 'cleo', tier: 'free' }],
]);

/** @param apiKey whatever the header `x-api-key` has */
export function findCustomer(apiKey: unknown): Customer | undefined {
  return CUSTOMERS.get(apiKey);
}

export function customerNamed(name: string): Customer | undefined {
  return [...CUSTOMERS.values()].find((customer) => customer.name === name);
}
