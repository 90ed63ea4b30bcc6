// temporary; delete when the module has a source
