/** As many characters as a policy's name may have. */
const LONGEST = 64;

/**
 * The name of the policy of a route that gives none: of `GET /verify/:code` it is `GET-verify-code`,
 * cut to what names may have. Different endpoints may get the same one.
 *
 * @param endpoint made by `endpointName`
 */
export function routePolicyName(endpoint: string): string {
  const letters = endpoint.replace(/^\*/, 'ALL').replace(/[^A-Za-z0-9_.]+/g, '-');
  return letters.slice(0, LONGEST).replace(/-$/, '');
}
