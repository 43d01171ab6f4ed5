import { type Content, content, type Denial } from '@rl/core/http';
import { deniedPage } from './denied-page.js';

/**
 * What denied clients get: people a page, programs a problem document (RFC 9457).
 * @param accept the header of that name: browsers ask for text/html by name when a page is opened
 */
export function deniedBody(denial: Denial, accept: string | undefined): Content {
  if (accept?.includes('text/html')) {
    return content('text/html; charset=utf-8', deniedPage(denial));
  }
  const { type, title, status, detail, violatedPolicies } = denial;
  const problem = { type, title, status, detail, 'violated-policies': violatedPolicies };
  return content('application/problem+json', JSON.stringify(problem));
}
