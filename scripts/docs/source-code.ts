import { relative } from 'node:path';
import ts from 'typescript';

/** A method that a controller calls. */
export interface Call {
  /** Class and method, such as `CouponsService.create`. */
  readonly name: string;
  /** Path of its file from the root of the repository. */
  readonly file: string;
}

/** Handler of an operation, as the source code shows it. */
export interface Handler {
  readonly controller: string;
  readonly file: string;
  readonly calls: readonly Call[];
  /** Types of the events that the handler can record, in alphabetical order. */
  readonly events: readonly string[];
}

/**
 * Reads the source code of the service. Finds the called methods with the TypeScript compiler. It cannot follow calls
 * of interfaces and hooks, because their implementations are not known.
 */
export class SourceCode {
  private readonly checker: ts.TypeChecker;
  private readonly classes: readonly ts.ClassDeclaration[];
  private readonly references = new Map<ts.Node, readonly ts.Declaration[]>();

  constructor(private readonly root: string) {
    const path = ts.findConfigFile(root, (file) => ts.sys.fileExists(file), 'tsconfig.build.json');
    const { config } = ts.readConfigFile(path ?? '', (file) => ts.sys.readFile(file)) as {
      readonly config: unknown;
    };
    const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
    const program = ts.createProgram(fileNames, { ...options, skipLibCheck: true });
    this.checker = program.getTypeChecker();
    this.classes = program
      .getSourceFiles()
      .filter((file) => this.isOurs(file))
      .flatMap((file) => file.statements.filter((statement) => ts.isClassDeclaration(statement)));
  }

  /** Returns the handlers by the name of their method. This name is also the `operationId`. */
  handlers(): ReadonlyMap<string, Handler> {
    return new Map(
      this.classes
        .filter((declaration) => hasDecorator(declaration, 'Controller'))
        .flatMap((controller) =>
          controller.members
            .filter((member) => ts.isMethodDeclaration(member) && hasDecorator(member, 'Operation'))
            .map((method) => [method.name?.getText() ?? '', this.handler(controller, method)]),
        ),
    );
  }

  private handler(controller: ts.ClassDeclaration, method: ts.ClassElement): Handler {
    const called = this.methodsCalledBy(method).flatMap((declaration) =>
      declaration.parent === controller ? this.methodsCalledBy(declaration) : [declaration],
    );
    return {
      controller: controller.name?.text ?? '',
      file: this.pathOf(controller),
      calls: called.map((declaration) => ({
        name: `${nameOf(declaration.parent)}.${nameOf(declaration)}`,
        file: this.pathOf(declaration),
      })),
      events: this.eventsFrom(method),
    };
  }

  private methodsCalledBy(node: ts.Node): readonly ts.Declaration[] {
    return this.referencesIn(node).filter(
      (declaration) =>
        declaration !== node &&
        ts.isMethodDeclaration(declaration) &&
        ts.isClassDeclaration(declaration.parent),
    );
  }

  private eventsFrom(start: ts.Node): readonly string[] {
    const events = new Set<string>();
    const seen = new Set<ts.Node>([start]);
    const open = [start];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      const event = eventTypeOf(node);
      if (event !== null) events.add(event);
      else {
        for (const declaration of this.referencesIn(node)) {
          if (seen.has(declaration)) continue;
          seen.add(declaration);
          open.push(declaration);
        }
      }
    }
    return [...events].sort();
  }

  /**
   * Returns the functions, methods and constants of this project that a node refers to. References in decorators do not
   * count.
   */
  private referencesIn(node: ts.Node): readonly ts.Declaration[] {
    const known = this.references.get(node);
    if (known !== undefined) return known;
    const found = new Set<ts.Declaration>();
    const visit = (child: ts.Node): void => {
      if (ts.isDecorator(child) || ts.isTypeNode(child)) return;
      if (ts.isIdentifier(child) && !isPartOfMember(child)) {
        const declaration = this.declarationOf(child);
        if (declaration !== null) found.add(declaration);
      }
      ts.forEachChild(child, visit);
    };
    ts.forEachChild(node, visit);
    const references = [...found];
    this.references.set(node, references);
    return references;
  }

  private declarationOf(identifier: ts.Identifier): ts.Declaration | null {
    const symbol = this.checker.getSymbolAtLocation(identifier);
    if (symbol === undefined) return null;
    const target =
      (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : this.checker.getAliasedSymbol(symbol);
    const declaration = target.valueDeclaration;
    if (declaration === undefined || !this.isOurs(declaration.getSourceFile())) return null;
    return isFollowed(declaration) ? declaration : null;
  }

  private isOurs(file: ts.SourceFile): boolean {
    return !file.isDeclarationFile && this.pathOf(file).startsWith('src/');
  }

  private pathOf(node: ts.Node): string {
    return relative(this.root, node.getSourceFile().fileName);
  }
}

/**
 * Returns true for `EVENTS` in `EVENTS.created`, because this refers only to the member `created`, not to the whole
 * object.
 */
function isPartOfMember(identifier: ts.Identifier): boolean {
  const { parent } = identifier;
  return ts.isPropertyAccessExpression(parent) && parent.expression === identifier;
}

function isFollowed(declaration: ts.Declaration): boolean {
  return (
    ts.isMethodDeclaration(declaration) ||
    ts.isGetAccessorDeclaration(declaration) ||
    ts.isPropertyDeclaration(declaration) ||
    ts.isFunctionDeclaration(declaration) ||
    ts.isPropertyAssignment(declaration) ||
    (ts.isVariableDeclaration(declaration) && ts.isSourceFile(declaration.parent.parent.parent))
  );
}

/**
 * Returns the event type that the node defines, such as `name = couponEvent('coupon.created', …)`; null if it defines none.
 */
function eventTypeOf(node: ts.Node): string | null {
  if (!ts.isVariableDeclaration(node) && !ts.isPropertyAssignment(node)) return null;
  const { initializer } = node;
  if (initializer === undefined || !ts.isCallExpression(initializer)) return null;
  if (!initializer.expression.getText().endsWith('Event')) return null;
  const [type] = initializer.arguments;
  return type !== undefined && ts.isStringLiteral(type) ? type.text : null;
}

function nameOf(node: ts.Node): string {
  return ts.isClassDeclaration(node) || ts.isMethodDeclaration(node)
    ? (node.name?.getText() ?? '')
    : '';
}

function hasDecorator(node: ts.HasDecorators, name: string): boolean {
  return (ts.getDecorators(node) ?? []).some(
    ({ expression }) => ts.isCallExpression(expression) && expression.expression.getText() === name,
  );
}
