import { AsyncLocalStorage } from 'node:async_hooks';
import { ModulesContainer } from '@nestjs/core';
import { LAYERS } from '../../scripts/imports/layers.cjs';
import type { TestApp } from './test-app';

type Method = (this: unknown, ...values: unknown[]) => unknown;

const callers = new AsyncLocalStorage<string>();

/**
 * Records calls between business modules while the application runs, as `caller -> called`. For this, it replaces the
 * methods of all providers of these modules. A call from a controller or a job has no caller and is not recorded.
 */
export function recordModuleCalls({ app }: TestApp): ReadonlySet<string> {
  const calls = new Set<string>();
  const wrapped = new Set<object>();
  for (const { metatype, providers } of app.get(ModulesContainer).values()) {
    const name = folderOf(metatype.name);
    if (!LAYERS.flat().includes(name)) continue;
    for (const { metatype: type } of providers.values()) {
      const prototype =
        typeof type === 'function' ? (type.prototype as object | undefined) : undefined;
      if (prototype === undefined || type === metatype || wrapped.has(prototype)) continue;
      wrapped.add(prototype);
      wrap(prototype, name, calls);
    }
  }
  return calls;
}

function wrap(prototype: object, module: string, calls: Set<string>): void {
  for (const [key, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (key === 'constructor' || typeof value !== 'function') continue;
    const method = value as Method;
    const recorded: Method = function (...values) {
      const caller = callers.getStore() ?? module;
      if (caller !== module) calls.add(`${caller} -> ${module}`);
      return callers.run(module, () => method.apply(this, values));
    };
    Object.defineProperty(prototype, key, { value: recorded, configurable: true, writable: true });
  }
}

/** Returns the calls to a module of the same layer or of a higher layer. */
export function callsNotDown(calls: ReadonlySet<string>): readonly string[] {
  const depthOf = (module: string): number =>
    LAYERS.findIndex((modules) => modules.includes(module));
  return [...calls].sort().filter((call) => {
    const [caller = '', called = ''] = call.split(' -> ');
    return depthOf(called) <= depthOf(caller);
  });
}

/** Returns the folder of a module: `test-clocks` of `TestClocksModule`. */
function folderOf(name: string): string {
  return name
    .replace(/Module$/, '')
    .replace(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`)
    .toLowerCase();
}
