/** Somebody whom we gave an API key, and what they pay for. */
export interface Customer {
  readonly name: string;
  /** Requests a minute. */
  readonly limit: number;
}

const FREE = 5;
const PAID = 20;

/** Requests a minute for all without an API key of ours, by address. */
export const STRANGER_LIMIT: number = FREE;

/** By API key. A real service asks its database. */
const CUSTOMERS = new Map<unknown, Customer>([
  ['key-of-ann', { name: 'ann', limit: FREE }],
  ['key-of-bob', { name: 'bob', limit: PAID }],
  ['key-of-cleo', { name: 'cleo', limit: FREE }],
]);

/** @param apiKey whatever the header `x-api-key` has */
export function findCustomer(apiKey: unknown): Customer | undefined {
  return CUSTOMERS.get(apiKey);
}
