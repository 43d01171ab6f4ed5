import type { Denial } from '@rl/core/http';
import { escapeHtml } from './escape-html.js';

/** No script, no fonts, nothing to fetch: whoever is denied this page may be denied the rest, too. */
const STYLE = `
  :root { color-scheme: light dark; }
  body { margin: 0; min-height: 100vh; display: grid; place-items: center;
    font: 1.125rem/1.6 system-ui, sans-serif; background: light-dark(#f4f5f7, #14161a);
    color: light-dark(#1b1f24, #e8eaed); }
  main { box-sizing: border-box; max-width: 34rem; margin: 1rem; padding: 2rem;
    border-top: .375rem solid light-dark(#9a4b00, #ffb266); border-radius: .5rem;
    background: light-dark(#fff, #1f2329); }
  h1 { margin: 0 0 .75rem; font-size: 1.75rem; line-height: 1.25; }
  p { margin: .75rem 0 0; }
  .when { font-size: 1.375rem; font-weight: 600; }
  .why { color: light-dark(#4d5560, #b4bac2); }
`;

/** A page that says to people what happened and when to try again. */
export function deniedPage({ status, detail, violatedPolicies, retryAfterS }: Denial): string {
  const [title, what] =
    status === 429
      ? ['Too many requests', 'You have asked for more than your quota allows.']
      : ['We will be right back', 'It is not your fault: quotas cannot be checked right now.'];
  const when =
    retryAfterS === undefined ? escapeHtml(detail) : `Please try again in ${inWords(retryAfterS)}.`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${what}</p>
<p class="when">${when}</p>
<p class="why">For whoever helps you: ${status}, ${escapeHtml(violatedPolicies.join(', '))}</p>
</main>
</body>
</html>
`;
}

/** Rounded up, so that nobody comes back too early. */
function inWords(seconds: number): string {
  if (seconds < 120) return count(seconds, 'second');
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? count(minutes, 'minute') : count(Math.ceil(minutes / 60), 'hour');
}

function count(amount: number, unit: string): string {
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`;
}
