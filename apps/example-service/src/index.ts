export { type Customer, findCustomer, STRANGER_LIMIT } from './customers.js';
export { deniedBody } from './denied-body.js';
export { isLogin } from './passwords.js';
export { pagesOf } from './search.js';
