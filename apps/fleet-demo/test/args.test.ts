import { expect, test } from 'vitest';
import { parseOptions, UsageError } from '../src/args.js';

test('without arguments: tables, 100 an hour, Redis where there is one', () => {
  expect(parseOptions([])).toEqual({ help: false, json: false, limit: 100, store: 'auto' });
});

test.each([
  [['--json'], { json: true }],
  [['--limit', '1'], { limit: 1 }],
  [['--limit=1000'], { limit: 1000 }],
  [['--store', 'redis'], { store: 'redis' }],
  [['--store', 'memory'], { store: 'memory' }],
  [['--help'], { help: true }],
  [['-h'], { help: true }],
])('%j is understood', (args, options) => {
  expect(parseOptions(args)).toMatchObject(options);
});

test.each([
  [['--jsno'], "Unknown option '--jsno'"],
  [['fast'], "Unexpected argument 'fast'"],
  [['--limit'], "Option '--limit <value>' argument missing"],
  [['--json=yes'], "Option '--json' does not take an argument"],
  [['--limit', '0'], '--limit must be an integer from 1 to 1000, got "0"'],
  [['--limit', '1001'], '--limit must be an integer from 1 to 1000, got "1001"'],
  [['--limit', '1.5'], '--limit must be an integer from 1 to 1000, got "1.5"'],
  [['--limit', ''], '--limit must be an integer from 1 to 1000, got ""'],
  [['--limit', '1e2'], '--limit must be an integer from 1 to 1000, got "1e2"'],
  [['--store', 'disk'], '--store must be one of auto, redis, memory, got "disk"'],
])('%j is refused, and the message says why', (args, message) => {
  expect(() => parseOptions(args)).toThrow(UsageError);
  expect(() => parseOptions(args)).toThrow(message);
});
