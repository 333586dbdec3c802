import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';

/** Whether this process still takes new work. */
@Injectable()
export class Lifecycle implements BeforeApplicationShutdown {
  private isDraining = false;

  get draining(): boolean {
    return this.isDraining;
  }

  beforeApplicationShutdown(): void {
    this.isDraining = true;
  }

  /** Middleware: while draining, answers close their connection, so that clients go elsewhere. */
  readonly closeWhenDraining = (
    _request: Request,
    response: Response,
    next: NextFunction,
  ): void => {
    if (this.isDraining) response.setHeader('Connection', 'close');
    next();
  };
}
