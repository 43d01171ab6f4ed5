import type { Store } from '../../src/store/store.js';
import {
  ChargesDenied,
  ChargesExamined,
  ChargesOnTry,
  ChargesShadow,
  changesAnswers,
  changesKeys,
  DeniesAlike,
  DropsOnClose,
  EndlessOverdraft,
  ExaminesNoCost,
  ExaminesNoLeases,
  FillsAboveFull,
  ForgetsNames,
  ForgetsOverdraft,
  ForgetsWhenTaken,
  KeepsOldValues,
  LastFirst,
  NeverCloses,
  OneAfterAnother,
  OneTooMany,
  OverchargesWhatFits,
  RefundsOnlyOne,
  ResetsLate,
  ResetsTooMuch,
  ShadowDenies,
  TwoSteps,
} from './broken-stores.js';

/** A mistake in a store, and the test of the contract that is there to find it. */
export interface Fault {
  readonly name: string;
  readonly break: (sound: Store) => Store;
  /** Part of the name of the tests of which one must fail. */
  readonly foundBy: string;
  /** What that one's error says. */
  readonly says: RegExp;
}

/** Each by itself: a sound store but for one mistake. */
export const FAULTS: readonly Fault[] = [
  {
    name: 'charges denied checks',
    break: (sound) => new ChargesDenied(sound),
    foundBy: 'a denied check changes nothing',
    says: /^check \d+, of cost \d: the bucket then: expected \{.*\}, got \{.*\}$/,
  },
  {
    name: 'charges what a shadow policy would deny',
    break: (sound) => new ChargesShadow(sound),
    foundBy: 'a check that a shadow policy would deny changes nothing',
    says: /the bucket then: expected/,
  },
  {
    name: 'charges what it is only to tell of',
    break: (sound) => new ChargesExamined(sound),
    foundBy: 'examine: tells what a check would meet, and changes nothing',
    says: /^check 2, of cost 1: the check behind it: expected .*"remaining":7.*, got .*"remaining":6/,
  },
  {
    name: 'tells of a look where it was asked about a cost',
    break: (sound) => new ExaminesNoCost(sound),
    foundBy: 'examine: tells what a check would meet, and changes nothing',
    says: /what it tells: expected \{"allowed":false.*, got \{"allowed":true/,
  },
  {
    name: 'does not see what is out',
    break: (sound) => new ExaminesNoLeases(sound),
    foundBy: 'examine tells how many permits are out',
    says: /^after a claim of 3: expected 3, got 0$/,
  },
  {
    name: 'charges in tryConsume, and again in consume',
    break: (sound) => new ChargesOnTry(sound),
    foundBy: 'token-bucket: a new bucket is full, and empties one permit at a time',
    says: /^step 2, \{"atMs":0.*\}: remaining: expected 2, got 1$/,
  },
  {
    name: 'answers out of order',
    break: (sound) => new LastFirst(sound),
    foundBy: 'decided in the order they were made',
    says: /^check \d+ of 1500, of cost \d: expected \{"allowed":/,
  },
  {
    name: 'looks and charges in two steps',
    break: (sound) => new TwoSteps(sound),
    foundBy: 'A-16 of 100 checks at once on a limit of 5',
    says: /check \d+ of 100, of cost 1: expected \{"allowed":false/,
  },
  {
    name: 'admits one too many',
    break: (sound) => new OneTooMany(sound),
    foundBy: 'A-16 of 100 checks at once on a limit of 5',
    says: /expected \{"allowed":/,
  },
  {
    name: 'forgets the overdraft',
    break: (sound) => new ForgetsOverdraft(sound),
    foundBy: 'an overcharge takes what does not fit, down to the overdraft',
    says: /^overdraft of 2: overdraft put back: expected 0, got 2$/,
  },
  {
    name: 'knows no end of the overdraft',
    break: (sound) => new EndlessOverdraft(sound),
    foundBy: 'an overcharge takes what does not fit, down to the overdraft',
    says: /^overdraft of 0: 1 put back: expected 1, got 0$/,
  },
  {
    name: 'overcharges only what fits',
    break: (sound) => new OverchargesWhatFits(sound),
    foundBy: 'settle',
    says: /refillAfterMs: expected/,
  },
  {
    name: 'refunds one permit, however many are put back',
    break: (sound) => new RefundsOnlyOne(sound),
    foundBy: 'a refund puts back',
    says: /^remaining after 2 came back: expected 3, got 2$/,
  },
  {
    name: 'refunds above a full bucket',
    break: (sound) => new FillsAboveFull(sound),
    foundBy: 'a refund puts back, and never above a full bucket',
    says: /^a cost of 1: expected false, got true$/,
  },
  {
    name: 'refunds into a later window',
    break: (sound) => new ForgetsWhenTaken(sound),
    foundBy: 'a refund does not come back into a later window',
    says: /^the later window: expected/,
  },
  {
    name: 'resets behind the checks that come after',
    break: (sound) => new ResetsLate(sound),
    foundBy: 'a reset in its place between checks at once',
    says: /^allowed: expected \[true,true,false,true,true,false\], got \[true,true,false,false/,
  },
  {
    name: 'resets other keys too',
    break: (sound) => new ResetsTooMuch(sound),
    foundBy: 'a reset forgets one bucket, and no other',
    says: /^remaining: expected \[2,0,0\], got \[2,2,0\]$/,
  },
  {
    name: 'charges several buckets one after the other',
    break: (sound) => new OneAfterAnother(sound),
    foundBy: 'consumeAll: where it does not fit, nothing is charged',
    says: /^attempt 2: .*: expected \[true,false,true,true,true\], got \[false,/,
  },
  {
    name: 'answers all charges alike where one is denied',
    break: (sound) => new DeniesAlike(sound),
    foundBy: 'gcra: consumeAll: where it does not fit, nothing is charged',
    says: /^attempt 1: .*, got \[false,false,false,false,false\]$/,
  },
  {
    name: 'lets a shadow policy deny the others',
    break: (sound) => new ShadowDenies(sound),
    foundBy: 'consumeAll: a shadow policy denies nothing',
    says: /^the second call: remaining in each bucket: expected \[1,1\], got \[3,1\]$/,
  },
  {
    name: 'goes on with the old values of a changed policy',
    break: (sound) => new KeepsOldValues(sound),
    foundBy: 'C-08 the limit is lowered to 4 while in use',
    says: /^step 1\d, /,
  },
  {
    name: 'forgets policy names',
    break: (sound) => new ForgetsNames(sound),
    foundBy: 'C-05 policies on one store are independent',
    says: /^remaining: expected \[490,0\], got/,
  },
  {
    name: 'normalizes keys',
    break: changesKeys((key) => key.normalize('NFC')),
    foundBy: 'keys that look alike, or odd, stay apart',
    says: /key "e\u0301" \(2 characters\): expected true, got false$/,
  },
  {
    name: 'cuts long keys off',
    break: changesKeys((key) => key.slice(0, 255)),
    foundBy: 'keys that look alike, or odd, stay apart',
    says: /\(300 characters\): expected true, got false$/,
  },
  {
    name: 'writes keys as UTF-8, where all lone surrogates are one',
    break: changesKeys((key) => Buffer.from(key).toString()),
    foundBy: 'keys that look alike, or odd, stay apart',
    says: /key "\\ude00" \(1 characters\): expected true, got false$/,
  },
  {
    name: 'ignores the case of keys',
    break: changesKeys((key) => key.toLowerCase()),
    foundBy: 'keys that look alike, or odd, stay apart',
    says: /key "A" /,
  },
  {
    name: 'keeps buckets as fields of a plain object',
    break: changesKeys((key) => (key in {} ? 'inherited' : key)),
    foundBy: 'keys that look alike, or odd, stay apart',
    says: /key "constructor" /,
  },
  {
    name: 'tells a wait that is a millisecond too long',
    break: changesAnswers(({ retryAfterMs }) =>
      retryAfterMs === undefined ? {} : { retryAfterMs: retryAfterMs + 1 },
    ),
    foundBy: 'token-bucket: the exact edge',
    says: /retryAfterMs: expected 1, got 2|from 1 ms to resetAfterMs/,
  },
  {
    name: 'decides by a clock of its own',
    break: changesAnswers(({ decidedAtMs }) => ({ decidedAtMs: decidedAtMs + 1 })),
    foundBy: 'token-bucket: a new bucket is full',
    says: /decidedAtMs, by the given clock: expected 1699920000000, got 1699920000001$/,
  },
  {
    name: 'answers after it was closed',
    break: (sound) => new NeverCloses(sound),
    foundBy: 'close: calls made after it are refused with RL_CLOSED',
    says: /^what tryConsume does: expected "throws RL_CLOSED", got "returns"$/,
  },
  {
    name: 'drops what waits when it is closed',
    break: (sound) => new DropsOnClose(sound),
    foundBy: 'close: calls made before it are answered',
    says: /the store is closed/,
  },
  {
    name: 'tells what is left below zero',
    break: changesAnswers(({ remaining }) => ({ remaining: remaining - 1 })),
    foundBy: 'C-01 limit 0 denies every call',
    says: /^step 1, .*: remaining must be an integer from 0 to the burst, got \{.*"remaining":-1/,
  },
];
