import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';

/** Whether this process still takes new work. */
@Injectable()
export class Lifecycle implements OnModuleDestroy {
  private isDraining = false;

  get draining(): boolean {
    return this.isDraining;
  }

  /** The first hook of a shutdown, before anything is waited for. */
  onModuleDestroy(): void {
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
