export { type Customer, findCustomer } from './customers.js';
export { deniedBody } from './denied-body.js';
export { createServiceLimiter, type ServicePolicy, tierOf } from './limiter.js';
export { type Operations, serveOperations } from './operations.js';
export { isLogin } from './passwords.js';
export { pagesOf } from './search.js';
