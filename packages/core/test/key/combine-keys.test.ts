import { describe, expect, it } from 'vitest';
import { combineKeys } from '../../src/key/combine-keys.js';

describe('combineKeys', () => {
  it.each([
    [['GET /verify/:code', '203.0.113.7'], 'GET /verify/:code|203.0.113.7'],
    [['t42', '2001:db8::/56', 7], 't42|2001:db8::/56|7'],
    [['alone'], 'alone'],
    [['a|b', 'c'], 'a~|b|c'],
    [['a', 'b|c'], 'a|b~|c'],
    [['a~', 'b'], 'a~~|b'],
    [[-0, 1.5, 10n], '0|1.5|10'],
  ])('%o is %s', (parts, key) => {
    expect(combineKeys(...parts)).toBe(key);
  });

  it('(a_b, c) and (a, b_c) are two keys, whatever stands between', () => {
    for (const separator of ['_', ':', '|', '~', '~|', '||']) {
      const left = combineKeys(`a${separator}b`, 'c');
      expect(left).not.toBe(combineKeys('a', `b${separator}c`));
    }
  });

  it.each([
    [undefined, 'got undefined', 'RL_INVALID_TYPE'],
    [null, 'got null', 'RL_INVALID_TYPE'],
    [{}, 'got an object', 'RL_INVALID_TYPE'],
    [['a'], 'got an array', 'RL_INVALID_TYPE'],
    [true, 'got true', 'RL_INVALID_TYPE'],
    [Promise.resolve('a'), 'got an object', 'RL_INVALID_TYPE'],
    ['', 'got ""', 'RL_INVALID_VALUE'],
    [Number.NaN, 'got NaN', 'RL_INVALID_VALUE'],
    [Number.POSITIVE_INFINITY, 'got Infinity', 'RL_INVALID_VALUE'],
  ])('K-11 a part that is missing, %j, is refused by its index', (part, got, code) => {
    const combine = () => combineKeys('tenant', part as never);
    expect(combine).toThrow(`parts[1] must be a text that is not empty or a finite number, ${got}`);
    expect(combine).toThrow(expect.objectContaining({ code, field: 'parts[1]' }));
  });

  it('no parts are refused', () => {
    expect(() => combineKeys()).toThrow('parts.length must be at least 1, got 0');
  });
});
