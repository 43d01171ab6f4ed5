/** One request and what is answered. */
export interface Exchange {
  /** Method and path: `GET /search?pages=4`. */
  readonly asks: string;
  /** The API key. */
  readonly as?: string;
  /** Name and password, `ann:tulip`. */
  readonly login?: string;
  readonly accept?: string;
  /** By how much the clock is moved before it. Default 0. */
  readonly afterMs?: number;
  readonly answer: {
    readonly status: number;
    /** By names in small letters; undefined: there is none of that name. */
    readonly headers: Readonly<Record<string, string | undefined>>;
  };
  /** The body, as JSON. Default: not looked at. */
  readonly json?: object;
  /** Parts of the body. */
  readonly contains?: readonly string[];
}

interface Conversation {
  readonly title: string;
  readonly exchanges: readonly Exchange[];
}

const ANN = { as: 'key-of-ann' };
const BOB = { as: 'key-of-bob' };
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const PROBLEM = 'https://iana.org/assignments/http-problem-types#quota-exceeded';
const NO_FIELDS = {
  ratelimit: undefined,
  'ratelimit-policy': undefined,
  'retry-after': undefined,
};

function times(count: number, exchange: (index: number) => Exchange): Exchange[] {
  return Array.from({ length: count }, (_, index) => exchange(index));
}

function ok(headers: Exchange['answer']['headers'] = {}): Exchange['answer'] {
  return { status: 200, headers };
}

/** A request of ann's within her quota, of which so many are left. */
function annHasLeft(left: number): Exchange {
  const headers = {
    'ratelimit-policy': '"tier";q=5;w=60',
    ratelimit: `"tier";r=${left};t=12`,
    'retry-after': undefined,
  };
  return { ...ANN, asks: 'GET /', answer: ok(headers), json: { hello: 'ann' } };
}

/** What the example services are asked, each conversation from the start, and what they answer. */
export const CONVERSATIONS: readonly Conversation[] = [
  {
    title: 'a free customer has 5 requests a minute, and is told how many are left',
    exchanges: [
      ...times(5, (index) => annHasLeft(4 - index)),
      {
        ...ANN,
        asks: 'GET /',
        answer: {
          status: 429,
          headers: {
            'ratelimit-policy': '"tier";q=5;w=60',
            ratelimit: '"tier";r=0;t=12',
            'retry-after': '12',
            'cache-control': 'no-store',
            'content-type': 'application/problem+json',
          },
        },
        json: {
          type: PROBLEM,
          title: 'Quota Exceeded',
          status: 429,
          detail: 'The quota is 5 per 1m. Try again in 12 s.',
          'violated-policies': ['tier'],
        },
      },
      { ...ANN, asks: 'GET /', afterMs: 12_000, answer: ok({ ratelimit: '"tier";r=0;t=12' }) },
    ],
  },
  {
    title: 'one who pays has 20, whatever others have spent',
    exchanges: [
      ...times(5, (index) => annHasLeft(4 - index)),
      ...times(20, (index) => ({
        ...BOB,
        asks: 'GET /',
        answer: ok({
          'ratelimit-policy': '"tier";q=20;w=60',
          ratelimit: `"tier";r=${19 - index};t=3`,
        }),
        json: { hello: 'bob' },
      })),
      { ...BOB, asks: 'GET /', answer: { status: 429, headers: { 'retry-after': '3' } } },
    ],
  },
  {
    title: 'people who are denied get a page, which says when to try again',
    exchanges: [
      ...times(5, (index) => annHasLeft(4 - index)),
      {
        ...ANN,
        asks: 'GET /',
        accept: BROWSER,
        answer: {
          status: 429,
          headers: {
            'content-type': 'text/html; charset=utf-8',
            'retry-after': '12',
            'cache-control': 'no-store',
            ratelimit: '"tier";r=0;t=12',
          },
        },
        contains: ['<!doctype html>', 'Too many requests', 'try again in 12 seconds'],
      },
    ],
  },
  {
    title: 'invented API keys share the quota of their address, on unknown paths too',
    exchanges: [
      ...times(4, (index) => ({
        as: `guess-${index}`,
        asks: 'GET /',
        answer: { status: 401, headers: { ratelimit: `"tier";r=${4 - index};t=12` } },
        json: { error: 'x-api-key is not a key of ours' },
      })),
      {
        ...ANN,
        asks: 'GET /nowhere',
        answer: { status: 404, headers: { ratelimit: '"tier";r=4;t=12' } },
      },
      { asks: 'GET /', answer: { status: 401, headers: { ratelimit: '"tier";r=0;t=12' } } },
      { asks: 'GET /nowhere', answer: { status: 429, headers: { 'retry-after': '12' } } },
    ],
  },
  {
    title: 'a search costs as many permits as pages, beside one request',
    exchanges: [
      {
        ...BOB,
        asks: 'GET /search?pages=4',
        answer: ok({
          'ratelimit-policy': '"tier";q=20;w=60, "search";q=10;w=60',
          ratelimit: '"tier";r=19;t=3, "search";r=6;t=6',
        }),
        json: { pages: 4 },
      },
      {
        ...BOB,
        asks: 'GET /search?pages=8',
        answer: {
          status: 429,
          headers: { ratelimit: '"tier";r=18;t=3, "search";r=6;t=12', 'retry-after': '12' },
        },
        json: {
          type: PROBLEM,
          title: 'Quota Exceeded',
          status: 429,
          detail: 'The quota is 10 per 1m. Try again in 12 s.',
          'violated-policies': ['search'],
        },
      },
      {
        ...BOB,
        asks: 'GET /search?pages=6',
        answer: ok({ ratelimit: '"tier";r=17;t=3, "search";r=0;t=6' }),
      },
      { ...BOB, asks: 'GET /search?pages=8', afterMs: 48_000, answer: ok(), json: { pages: 8 } },
    ],
  },
  {
    title: 'logins count where they fail, by address, and not against a tier',
    exchanges: [
      ...times(2, (index) => ({
        asks: 'POST /login',
        login: 'ann:guess',
        answer: {
          status: 401,
          headers: {
            'ratelimit-policy': '"login";q=3;w=900',
            ratelimit: `"login";r=${2 - index};t=300`,
          },
        },
        json: { error: 'wrong name or password' },
      })),
      ...times(4, () => ({
        asks: 'POST /login',
        login: 'ann:tulip',
        answer: ok(),
        json: { welcome: 'back' },
      })),
      { asks: 'POST /login', login: 'bob:guess', answer: { status: 401, headers: {} } },
      {
        asks: 'POST /login',
        login: 'ann:tulip',
        answer: { status: 429, headers: { 'retry-after': '300' } },
      },
      annHasLeft(4),
    ],
  },
  {
    title: 'health costs nothing and tells nothing',
    exchanges: [
      ...times(7, () => ({
        ...ANN,
        asks: 'GET /health',
        answer: ok(NO_FIELDS),
        json: { status: 'ok' },
      })),
      annHasLeft(4),
    ],
  },
];
