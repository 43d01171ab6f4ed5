import { invalidType, invalidValue } from '../errors.js';
import { parseHost } from './host.js';
import { type Groups, isIpv4, isMappedIpv4, mappedIpv4, parseIpv6 } from './ip-address.js';

/** All addresses with the same first bits. IPv4 stands in `::ffff:0:0/96`, and is no IPv6 address. */
interface Network {
  readonly isIpv4: boolean;
  readonly groups: Groups;
  /** How many bits count, of 128. */
  readonly prefix: number;
}

/** Of a peer on a Unix socket, which has no address, as a `RequestReader` tells it. */
export const UNIX_PEER = 'unix';

/** Ranges by the names that proxy-addr gives them, and so Express and Fastify. */
const NAMED: ReadonlyMap<string, readonly string[]> = new Map([
  ['loopback', ['127.0.0.0/8', '::1']],
  ['linklocal', ['169.254.0.0/16', 'fe80::/10']],
  ['uniquelocal', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']],
  [UNIX_PEER, []],
]);

/** What there is of addresses that anybody may have: IPv4, and IPv6 as it is given out (2000::/3). */
const EVERYBODY: readonly Network[] = [
  { isIpv4: true, groups: mappedIpv4('0.0.0.0'), prefix: 96 },
  { isIpv4: false, groups: [0x2000, 0, 0, 0, 0, 0, 0, 0], prefix: 3 },
];

/** Hosts by their addresses, from a list as apps write it. */
export class Networks {
  readonly #networks: readonly Network[];
  readonly #hasUnix: boolean;
  /** One of them, as it was written last: nearly all requests come from the same few proxies. */
  #known: string | undefined;

  /** @throws TypeError or RangeError that names the member, such as `field[1]`, and shows it */
  constructor(field: string, list: readonly unknown[]) {
    this.#networks = list.flatMap((member, i) => parseMember(`${field}[${i}]`, member));
    this.#hasUnix = list.includes(UNIX_PEER);
  }

  /** Whether a host is one of them; false for what is no address. */
  has(host: string | undefined): boolean {
    if (host === undefined) return false;
    if (host === this.#known) return true;
    const has = this.#find(host);
    if (has) this.#known = host;
    return has;
  }

  /** Whether they contain all of IPv4, or all of IPv6 that anybody may have. */
  get haveEverybody(): boolean {
    return EVERYBODY.some((all) => covers(this.#networks, all));
  }

  #find(host: string): boolean {
    if (host === UNIX_PEER) return this.#hasUnix;
    const groups = parseHost(host);
    if (groups === undefined) return false;
    const isIpv4 = isMappedIpv4(groups);
    return this.#networks.some((network) => network.isIpv4 === isIpv4 && contains(network, groups));
  }
}

function parseMember(field: string, member: unknown): readonly Network[] {
  const expected = `an address, a range such as "10.0.0.0/8", or one of ${[...NAMED.keys()].join(', ')}`;
  if (typeof member !== 'string') throw invalidType(field, expected, member);
  const ranges = NAMED.get(member) ?? [member];
  return ranges.map((range) => {
    const network = parseNetwork(range);
    if (network === undefined) throw invalidValue(field, expected, member);
    return network;
  });
}

/** Bits of the address behind the prefix are allowed, and do not count. */
function parseNetwork(text: string): Network | undefined {
  const [address = '', bits, more] = text.split('/');
  const groups = isIpv4(address) ? mappedIpv4(address) : parseIpv6(address);
  if (groups === undefined || more !== undefined) return undefined;
  if (bits !== undefined && !/^(?:0|[1-9]\d{0,2})$/.test(bits)) return undefined;
  const offset = isIpv4(address) ? 96 : 0;
  const prefix = bits === undefined ? 128 : offset + Number(bits);
  if (prefix > 128) return undefined;
  const isMapped = isMappedIpv4(groups);
  // It would begin in IPv4 and go beyond it: nobody means that.
  if (isMapped && prefix < 96) return undefined;
  return { isIpv4: isMapped, groups, prefix };
}

/** Of an address of the same family: all of IPv4 begins with the same six groups. */
function contains({ isIpv4, groups, prefix }: Network, address: Groups): boolean {
  for (let i = isIpv4 ? 6 : 0; i * 16 < prefix; i++) {
    const differing = (groups[i] as number) ^ (address[i] as number);
    if (differing >>> Math.max((i + 1) * 16 - prefix, 0) !== 0) return false;
  }
  return true;
}

/** Whether some networks have all of another: one of them has it, or they have both halves of it. */
function covers(networks: readonly Network[], all: Network): boolean {
  const near = networks.filter(({ isIpv4, groups }) => {
    return isIpv4 === all.isIpv4 && contains(all, groups);
  });
  const wider = networks.some((network) => {
    return (
      network.isIpv4 === all.isIpv4 && network.prefix <= all.prefix && contains(network, all.groups)
    );
  });
  if (wider || near.length === 0) return wider;
  const upper = [...all.groups] as [...Groups];
  upper[all.prefix >> 4] = (upper[all.prefix >> 4] as number) | (0x8000 >> (all.prefix & 15));
  const prefix = all.prefix + 1;
  return covers(near, { ...all, prefix }) && covers(near, { ...all, prefix, groups: upper });
}
