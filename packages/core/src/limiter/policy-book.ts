import { invalidType, invalidValue } from '../errors.js';
import { type Policy, type PolicyOptions, parsePolicy } from '../policy/policy.js';

/** Most sets of changed values that are kept parsed; apps have tiers, not one for each client. */
const MAX_KEPT = 1000;

/** What a call puts in place of a policy's values: a tier's limit, a tenant's own. */
export type PolicyChange = Partial<PolicyOptions>;

/** A limiter's policies, and what calls make of them. */
export class PolicyBook {
  /** As they were given to the limiter, after parsing. */
  readonly policies: ReadonlyMap<string, Policy>;
  readonly #options: ReadonlyMap<string, PolicyOptions>;
  readonly #byObject = new WeakMap<PolicyChange, Map<string, Policy>>();
  readonly #byValues = new Map<string, Policy>();

  /** @throws TypeError or RangeError that names the field and shows the value */
  constructor(policies: unknown) {
    if (typeof policies !== 'object' || policies === null || Array.isArray(policies)) {
      throw invalidType('policies', 'an object { name: { limit, window } }', policies);
    }
    const options = new Map(Object.entries(policies) as [string, PolicyOptions][]);
    if (options.size === 0) throw invalidValue('policies', 'at least one policy', '{}');
    const parsed = [...options].map(
      ([name, given]) => [name, parsePolicy(name, given, `policies.${name}`)] as const,
    );
    this.#options = options;
    this.policies = new Map(parsed);
  }

  /**
   * The policy with a call's changes. Equal changes give the same object, so that an app may make
   * them anew for each call.
   * @throws TypeError or RangeError that names the field and shows the value
   */
  changed(policy: Policy, change: PolicyChange): Policy {
    const { name } = policy;
    if (typeof change !== 'object' || change === null) {
      throw invalidType(`policies.${name}`, 'an object with what is to change', change);
    }
    const known = this.#byObject.get(change)?.get(name);
    if (known !== undefined) return known;
    const values = `${name} ${textOf(change)}`;
    const changed = this.#byValues.get(values) ?? this.#parse(name, change);
    this.#keep(values, change, changed);
    return changed;
  }

  #parse(name: string, change: PolicyChange): Policy {
    const given = Object.entries(change).filter(([, value]) => value !== undefined);
    const options = { ...this.#options.get(name), ...Object.fromEntries(given) } as PolicyOptions;
    return parsePolicy(name, options, `policies.${name}`);
  }

  /** By its object only where that cannot be changed any more. */
  #keep(values: string, change: PolicyChange, changed: Policy): void {
    if (!this.#byValues.has(values) && this.#byValues.size >= MAX_KEPT) {
      const [oldest] = this.#byValues.keys();
      this.#byValues.delete(oldest as string);
    }
    // The ones used last stay.
    this.#byValues.delete(values);
    this.#byValues.set(values, changed);
    if (!Object.isFrozen(change) || !isFixed(change.lease)) return;
    const byName = this.#byObject.get(change) ?? new Map<string, Policy>();
    this.#byObject.set(change, byName.set(changed.name, changed));
  }
}

/** Other values have another text, in whatever order they are written. */
function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return `${typeof value} ${String(value)}`;
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return JSON.stringify(entries.sort().map(([name, one]) => [name, textOf(one)]));
}

function isFixed(value: unknown): boolean {
  return typeof value !== 'object' || Object.isFrozen(value);
}
