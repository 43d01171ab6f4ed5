import { array, assert, constantFrom, nat, property, tuple } from 'fast-check';
import { expect, it } from 'vitest';
import { RisingSum } from '../../src/publishing/rising-sum.js';
import { fuzzRuns } from '../support/fuzz.js';

type Reading = {
  readonly n: number;
  readonly each: readonly number[];
  readonly by: { a?: number };
};

it('never falls, and has each count of those who ever came once, whoever comes and goes', () => {
  const steps = array(tuple(constantFrom('count', 'join', 'leave', 'read'), nat(2), nat(5)));
  assert(
    property(steps, (history) => {
      const sources = [0, 1, 2].map(() => ({ counted: 0, isHere: false, told: 0 }));
      const reading = ({ counted }: { counted: number }): Reading => ({
        n: counted,
        each: [counted / 10, counted],
        by: counted > 0 ? { a: counted } : {},
      });
      const sum = new RisingSum<Reading>({ n: 0, each: [0, 0], by: {} });
      let last: Reading = { n: 0, each: [0, 0], by: {} };
      for (const [what, which, count] of history) {
        const source = sources[which] as (typeof sources)[number];
        if (what === 'count') source.counted += count;
        if (what === 'join') {
          sum.join(source);
          source.isHere = true;
        }
        if (what === 'leave' && source.isHere) {
          sum.leave(source, reading(source));
          source.isHere = false;
          source.told = source.counted;
        }
        const here = sources.filter(({ isHere }) => isHere);
        const now = sum.read(here.map((one) => [one, reading(one)]));
        const total = sources.reduce(
          (all, { isHere, counted, told }) => all + (isHere ? counted : told),
          0,
        );
        expect(now).toMatchObject({ n: total, each: [expect.closeTo(total / 10), total] });
        expect(now.by.a ?? 0).toBe(total);
        expect(now.each[0]).toBeGreaterThanOrEqual(last.each[0] as number);
        last = now;
      }
    }),
    fuzzRuns(),
  );
});
