import { Inject, Injectable, type INestApplication, type Type } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, ModuleRef, ModulesContainer } from '@nestjs/core';
import type { ExpressAdapter } from '@nestjs/platform-express';
import type { Express } from 'express';
import type { Server } from 'node:http';
import type { Logger } from 'pino';

export const REQUEST_LOGGER = Symbol('logger for requests');

/** The parts of a Nest application that are needed to configure HTTP. Nest does not inject the application itself. */
@Injectable()
export class HttpApplication {
  constructor(
    private readonly host: HttpAdapterHost<ExpressAdapter>,
    readonly modules: ModulesContainer,
    private readonly moduleRef: ModuleRef,
    @Inject(REQUEST_LOGGER) readonly logger: Logger,
  ) {}

  get express(): Express {
    return this.host.httpAdapter.getInstance<Express>();
  }

  get server(): Server {
    return this.host.httpAdapter.getHttpServer();
  }

  /** Returns a provider of any module. */
  get<Provider>(type: Type<Provider>): Provider {
    return this.moduleRef.get(type, { strict: false });
  }

  /** Returns the parts of an application that SwaggerModule reads. */
  asSwaggerNeeds(): INestApplication {
    const { httpAdapter } = this.host;
    const { modules } = this;
    const parts = {
      container: { getModules: () => modules },
      config: new ApplicationConfig(),
      getHttpAdapter: () => httpAdapter,
      useStaticAssets: httpAdapter.useStaticAssets.bind(httpAdapter),
    };
    return parts as unknown as INestApplication;
  }
}
