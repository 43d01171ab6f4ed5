import 'reflect-metadata';
import { Controller, Get, type INestApplication, Module } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import {
  Throttle,
  ThrottlerGuard,
  ThrottlerModule,
  type ThrottlerOptions,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import { type Answer, ask, type Target } from '@rl/adapter-suite';
import { afterEach } from 'vitest';
import { type Told, toldBy } from './told.js';

/** A route, and what `@Throttle` says of it. */
export interface Route {
  readonly path: string;
  readonly throttle?: Parameters<typeof Throttle>[0];
}

export interface NestPlan {
  readonly throttlers: ThrottlerOptions[];
  readonly storage?: ThrottlerStorage;
  readonly routes?: readonly Route[];
}

export interface RunningNest {
  ask(path?: string): Promise<Told>;
  close(): Promise<void>;
}

/** Call it in a `describe`. What it returns starts a Nest app, which ends with the test. */
export function useNest(): (plan: NestPlan) => Promise<RunningNest> {
  const running: INestApplication[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((app) => app.close()));
  });
  return async ({ throttlers, storage, routes = [{ path: '/' }] }) => {
    const options = storage === undefined ? { throttlers } : { throttlers, storage };
    const app = await NestFactory.create(moduleWith(options, routes), { logger: false });
    running.push(app);
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as { port: number };
    const target: Target = { host: '127.0.0.1', port };
    return {
      ask: async (path = '/') => toldBy((await ask(target, { path })) as Answer),
      close: () => app.close(),
    };
  };
}

/** Decorators are functions, and are called as such: nothing here is compiled for them. */
function moduleWith(
  options: Parameters<typeof ThrottlerModule.forRoot>[0],
  routes: readonly Route[],
): new () => object {
  class TestController {}
  for (const [i, { path, throttle }] of routes.entries()) {
    const name = `route${i}`;
    Object.defineProperty(TestController.prototype, name, {
      value: { [name]: () => 'handled' }[name],
      configurable: true,
    });
    const property = Object.getOwnPropertyDescriptor(TestController.prototype, name);
    if (property === undefined) continue;
    Get(path)(TestController.prototype, name, property);
    if (throttle !== undefined) Throttle(throttle)(TestController.prototype, name, property);
  }
  Controller()(TestController);
  class TestModule {}
  Module({
    imports: [ThrottlerModule.forRoot(options)],
    controllers: [TestController],
    providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
  })(TestModule);
  return TestModule;
}
