/** By name. A real service has salted hashes, in its database. */
const PASSWORDS = new Map([
  ['ann', 'tulip'],
  ['bob', 'maple'],
]);

/**
 * Whether a name and its password are right.
 * @param authorization the header of that name, by the scheme Basic
 */
export function isLogin(authorization: string | undefined): boolean {
  const [scheme, credentials = ''] = authorization?.split(' ') ?? [];
  const [name = '', password] = Buffer.from(credentials, 'base64').toString().split(':');
  return scheme === 'Basic' && password !== undefined && PASSWORDS.get(name) === password;
}
