/** As many methods as no app names one by one: the route is for all of them. */
const ALL_METHODS = 8;

/**
 * A matched route as part of a partition key: `GET /verify/:code`. HEAD is the GET that it is
 * answered from.
 *
 * @param declared the methods that the route was declared for; `*` stands for all
 * @param counted those that are one endpoint. Where one handler serves all that were declared, they
 * are, or a client would get another quota by another method
 */
export function endpointName(
  declared: readonly string[],
  pattern: string,
  counted: readonly string[] = declared,
): string {
  if (declared.length >= ALL_METHODS || declared.includes('*')) return `* ${pattern}`;
  const named = new Set(counted.map((method) => (method === 'HEAD' ? 'GET' : method)));
  return `${[...named].sort().join(',')} ${pattern}`;
}
