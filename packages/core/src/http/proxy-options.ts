/** The header in which proxies say where a request came from. */
export const FORWARDED_BY = ['x-forwarded-for', 'forwarded'] as const;
export type ForwardedBy = (typeof FORWARDED_BY)[number];

/** Which proxies stand in front of the app, and how they say where a request came from. */
export interface ProxyOptions {
  /**
   * Whom to believe about the address of a client, instead of what the framework believes. A list of
   * addresses, ranges such as `"10.0.0.0/8"` and the names `loopback`, `linklocal`, `uniquelocal` and
   * `unix`, a Unix socket; with an empty one the peer of the connection is the client. Or how many
   * proxies every request comes through, from 1 to 100: only where nobody can get past one.
   */
  trustedProxies?: readonly string[] | number | undefined;
  /**
   * The header they write. Default `"x-forwarded-for"`; `"forwarded"` (RFC 7239) goes with a list.
   */
  forwardedBy?: ForwardedBy | undefined;
}
