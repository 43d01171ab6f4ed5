import { lookup as systemLookup } from 'node:dns/promises';
import { checkOptionNames, invalidType, invalidValue, messageOf } from '../errors.js';

export interface DnsReplicasOptions {
  /**
   * Finds the addresses of the name: one with a cache, or one that asks the DNS itself. It must come
   * to an end. Default: `lookup` of `node:dns/promises`, which heeds `/etc/hosts` and the search
   * domains of a cluster.
   */
  lookup?: ((name: string, options: { readonly all: true }) => Promise<Addresses>) | undefined;
}

type Addresses = readonly { readonly address: string; readonly family: number }[];

const askSystem = (name: string): Promise<Addresses> => systemLookup(name, { all: true });

/** Letters, digits, "_", "-" and ".", and not an address, of which there is always one. */
const NAME = /^(?=.*[A-Za-z_])[A-Za-z0-9_.-]{1,253}$/;

/**
 * Counts replicas by the addresses of a name, such as a headless service of Kubernetes or a service
 * of Docker Compose: for the option `replicas`. Of a name with addresses of both families the family
 * with more counts. Who is not ready to serve has no address there, as a rule.
 *
 * What it returns rejects, with an error that names the host, where the name has no address. It
 * asks one question at a time, however often it is called.
 *
 * @param name `"api-headless"` or `"api.internal"`
 */
export function dnsReplicas(name: string, options: DnsReplicasOptions = {}): () => Promise<number> {
  const expected = 'the name of a service, such as "api.internal"';
  if (typeof name !== 'string') throw invalidType('name', expected, name);
  if (!NAME.test(name)) throw invalidValue('name', expected, name);
  if (typeof options !== 'object' || options === null) {
    throw invalidType('options', 'an object', options);
  }
  checkOptionNames('', options, ['lookup']);
  const { lookup = askSystem } = options;
  if (typeof lookup !== 'function') throw invalidType('lookup', 'a function', lookup);

  const count = async (): Promise<number> => {
    try {
      return largerFamily(await lookup(name, { all: true }));
    } catch (error) {
      const why = messageOf(error);
      throw new Error(`could not count the addresses of ${name}: ${why}`, { cause: error });
    }
  };
  // Without a DNS a question takes a minute or two, and with it a thread of the few that Node has.
  let running: Promise<number> | undefined;
  return () => {
    running ??= count().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** The number of distinct addresses of the family that has more. */
function largerFamily(addresses: Addresses): number {
  const families = new Map<number, Set<string>>();
  for (const { address, family } of addresses) {
    families.set(family, (families.get(family) ?? new Set()).add(address));
  }
  if (families.size === 0) throw new Error('it has none');
  return Math.max(...[...families.values()].map(({ size }) => size));
}
