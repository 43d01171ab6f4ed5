import type { Redis } from 'ioredis';
import type { RedisClient } from '../../src/store/redis/client.js';
import type { Script } from '../../src/store/redis/script.js';
import { checks, plainChecks } from '../../src/store/redis/scripts.generated.js';
import * as frozen from '../../src/testing/frozen-scripts.generated.js';

/** A call of one of our scripts that a client made. */
interface Call {
  readonly script: 'plainChecks' | 'checks';
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

const PLAIN: readonly Script[] = [plainChecks, frozen.plainChecks];
const CHECKS: readonly Script[] = [checks, frozen.checks];

/** The real client, which notes its calls. `underWay` counts those that are not answered yet. */
export function recorded(client: Redis): {
  client: RedisClient;
  calls: Call[];
  underWay(): number;
} {
  const calls: Call[] = [];
  let underWay = 0;
  const note = <T>(script: string, count: number, rest: (string | number)[], work: Promise<T>) => {
    const is = ({ sha1, text }: Script) => script === sha1 || script === text;
    if (!PLAIN.some(is) && !CHECKS.some(is)) throw new Error(`not a script of ours: ${script}`);
    const [keys, args] = [rest.slice(0, count).map(String), rest.slice(count).map(String)];
    calls.push({ script: PLAIN.some(is) ? 'plainChecks' : 'checks', keys, args });
    underWay++;
    return work.finally(() => underWay--);
  };
  return {
    calls,
    underWay: () => underWay,
    client: {
      evalsha: (sha1, count, ...rest) =>
        note(sha1, count, rest, client.evalsha(sha1, count, ...rest)),
      eval: (text, count, ...rest) => note(text, count, rest, client.eval(text, count, ...rest)),
    },
  };
}
