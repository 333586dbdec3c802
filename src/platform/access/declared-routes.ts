import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner, type ModulesContainer } from '@nestjs/core';
import { ACCESS } from './require-access';
import type { Access } from '../../core/access';

/**
 * Returns the routes that need no credential, in the form `GET /path`.
 * @throws {Error} if a route declares no access, so that the service does not start with such a route
 */
export function publicRoutes(modules: ModulesContainer): ReadonlySet<string> {
  const controllers = [...modules.values()].flatMap((module) =>
    [...module.controllers.values()].flatMap(({ metatype }) =>
      typeof metatype === 'function' ? [metatype as Type<unknown>] : [],
    ),
  );
  const routes = controllers.flatMap(routesOf);
  for (const { name, access } of routes) {
    if (access === undefined) throw new Error(`The route ${name} declares no access.`);
  }
  return new Set(routes.filter(({ access }) => access === 'public').map(({ name }) => name));
}

interface Route {
  readonly name: string;
  readonly access: Access | undefined;
}

function routesOf(controller: Type<unknown>): readonly Route[] {
  const prefix = pathOf(controller);
  const prototype = controller.prototype as Readonly<Record<string, object>>;
  return new MetadataScanner().getAllMethodNames(prototype).flatMap((method) => {
    const handler = prototype[method];
    if (handler === undefined || !Reflect.hasMetadata(METHOD_METADATA, handler)) return [];
    const verb = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod];
    const path = [prefix, pathOf(handler)].filter((part) => part !== '' && part !== '/').join('/');
    const access = Reflect.getMetadata(ACCESS, handler) as Access | undefined;
    return [{ name: `${verb} /${path}`, access }];
  });
}

function pathOf(target: object): string {
  return Reflect.getMetadata(PATH_METADATA, target) as string;
}
