import { describe, expect, it, vi } from 'vitest';
import { chargedRequests } from '../../src/http/charged-requests.js';
import type { ChargeOptions } from '../../src/http/options.js';
import type { Later } from '../../src/http/thenable.js';

interface Request {
  readonly method: string;
  readonly headers: Record<string, string>;
}

function isCharged(
  options: ChargeOptions<Request>,
  method: string,
  headers: Record<string, string> = {},
): Later<boolean> {
  const charged = chargedRequests<Request>(options, {
    addressOf: () => undefined,
    methodOf: (request) => request.method,
    headerOf: (request, name) => request.headers[name],
    peerOf: () => undefined,
  });
  return charged({ method, headers });
}

const PREFLIGHT = { origin: 'https://a.example', 'access-control-request-method': 'GET' };

describe('F-06 preflight', () => {
  it.each<[string, string, Record<string, string>, boolean]>([
    ['a preflight', 'OPTIONS', PREFLIGHT, false],
    ['OPTIONS', 'OPTIONS', {}, true],
    ['OPTIONS of another origin', 'OPTIONS', { origin: 'https://a.example' }, true],
    ['OPTIONS without an origin', 'OPTIONS', { 'access-control-request-method': 'GET' }, true],
    ['another method with its headers', 'GET', PREFLIGHT, true],
    ['HEAD', 'HEAD', {}, true],
  ])('%s', (_, method, headers, expected) => {
    expect(isCharged({}, method, headers)).toBe(expected);
    expect(isCharged({ preflight: 'skip' }, method, headers)).toBe(expected);
    expect(isCharged({ preflight: 'charge' }, method, headers)).toBe(true);
  });

  it('headers that are empty make one as well', () => {
    const headers = { origin: '', 'access-control-request-method': '' };
    expect(isCharged({}, 'OPTIONS', headers)).toBe(false);
  });
});

describe('methods', () => {
  it.each([
    ['GET', true],
    ['HEAD', true],
    ['POST', true],
    ['PUT', false],
    ['OPTIONS', false],
    ['', false],
  ])('%s', (method, expected) => {
    expect(isCharged({ methods: ['GET', 'POST'] }, method)).toBe(expected);
  });

  it('HEAD goes with GET alone', () => {
    expect(isCharged({ methods: ['POST'] }, 'HEAD')).toBe(false);
    expect(isCharged({ methods: ['HEAD'] }, 'GET')).toBe(false);
    expect(isCharged({ methods: ['HEAD', 'M-SEARCH'] }, 'M-SEARCH')).toBe(true);
  });

  it('a preflight is none of them unless it is to be charged', () => {
    const methods = ['OPTIONS'];
    expect(isCharged({ methods }, 'OPTIONS', PREFLIGHT)).toBe(false);
    expect(isCharged({ methods, preflight: 'charge' }, 'OPTIONS', PREFLIGHT)).toBe(true);
  });

  it('a list that is changed later changes nothing', () => {
    const methods = ['POST'];
    const reader = { methodOf: () => 'PUT', headerOf: () => undefined } as never;
    const charged = chargedRequests<object>({ methods }, reader);
    methods.push('PUT');
    expect(charged({})).toBe(false);
  });
});

describe('skip', () => {
  it.each([true, false])('%s, at once and later', async (skipped) => {
    expect(isCharged({ skip: () => skipped }, 'GET')).toBe(!skipped);
    const later = isCharged({ skip: async () => skipped }, 'GET');
    expect(later).toBeInstanceOf(Promise);
    expect(await later).toBe(!skipped);
  });

  it.each([undefined, null, 0, 1, '', 'yes', {}])('%o is an error, no bypass', async (given) => {
    const message = 'skip must be a function that returns true or false, got';
    expect(() => isCharged({ skip: () => given as never }, 'GET')).toThrow(message);
    await expect(isCharged({ skip: async () => given as never }, 'GET')).rejects.toThrow(message);
  });

  it('what it throws is passed on', async () => {
    const error = new Error('no flags');
    const fails = () => {
      throw error;
    };
    expect(() => isCharged({ skip: fails }, 'GET')).toThrow(error);
    await expect(isCharged({ skip: async () => fails() }, 'GET')).rejects.toBe(error);
  });

  it('is not asked about what is not charged anyway', () => {
    const skip = vi.fn(() => false);
    isCharged({ skip, methods: ['POST'] }, 'GET');
    isCharged({ skip }, 'OPTIONS', PREFLIGHT);
    expect(skip).not.toHaveBeenCalled();
    isCharged({ skip }, 'GET');
    expect(skip).toHaveBeenCalledTimes(1);
    expect(skip).toHaveBeenCalledWith({ method: 'GET', headers: {} });
  });
});

const EXPECTED = 'methods must be a list of methods such as "POST", not empty';

it.each<[object, string]>([
  [{ preflight: 'pass' }, 'preflight must be one of "skip", "charge", got "pass"'],
  [{ preflight: true }, 'preflight must be one of "skip", "charge", got true'],
  [{ preflight: null }, 'preflight must be one of "skip", "charge", got null'],
  [{ skip: true }, 'skip must be a function of the request, got true'],
  [{ methods: 'GET' }, `${EXPECTED}, got "GET"`],
  [{ methods: [] }, `${EXPECTED}, got an array`],
  [{ methods: ['GET', 5] }, `${EXPECTED}, got 5`],
  [{ methods: ['get'] }, `${EXPECTED}, in capitals, got "get"`],
  [{ methods: [''] }, `${EXPECTED}, in capitals, got ""`],
  [{ methods: ['GET '] }, `${EXPECTED}, in capitals, got "GET "`],
])('%o is refused', (options, message) => {
  expect(() => isCharged(options, 'GET')).toThrow(message);
});
